#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database_fixture.h"
#include "same_timeline.h"

namespace dlkprof::store {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoredRunTest : public DatabaseTest {
 protected:
  [[nodiscard]] std::string reading_run() const {
    return message_of([this] { (void)read_stored_run(path()); });
  }
};

TEST_F(StoredRunTest, HasTheTimelineWithoutItsRanges) {
  write();
  model::Timeline wanted = timeline_;
  wanted.ranges.clear();
  wanted.strings = {""};
  for (model::Call& call : wanted.calls) {
    call.range = model::kNone;
    call.name = 0;
  }
  for (model::GraphNode& node : wanted.graph_nodes) node.range = node.capture_range = model::kNone;
  test::expect_same(read_timeline_without_ranges(path()), wanted);
}

TEST_F(StoredRunTest, GetsTheNamesOfCallsThatLaunchBack) {
  write();
  model::Timeline timeline = read_timeline_without_ranges(path());
  name_launch_calls(path(), timeline);
  std::size_t named = 0;
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const std::string& name = timeline_.strings[timeline_.calls[i].name];
    const bool launches = name.find("Launch") != std::string::npos;
    named += launches ? 1 : 0;
    EXPECT_EQ(timeline.strings.at(timeline.calls[i].name), launches ? name : "");
  }
  EXPECT_GT(named, 0U);
}

TEST_F(StoredRunTest, HasTheFoldThatWasStored) {
  write();
  const model::Profile run = read_stored_run(path());
  EXPECT_EQ(run.fold.key_node, fold_.key_node);
  EXPECT_EQ(run.fold.key_node_source, fold_.key_node_source);
  EXPECT_EQ(run.fold.key_nodes_found, fold_.key_nodes_found);
  EXPECT_EQ(run.aggregate.first_iteration, 0U);
  EXPECT_EQ(run.aggregate.last_iteration, 1U);
  EXPECT_EQ(run.fold.activity_iteration, fold_.activity_iteration);
  ASSERT_EQ(run.fold.ops.size(), fold_.ops.size());
  for (std::size_t i = 0; i < fold_.ops.size(); ++i) {
    EXPECT_EQ(run.fold.ops[i].id, fold_.ops[i].id);
    EXPECT_EQ(run.fold.ops[i].name, fold_.ops[i].name);
    EXPECT_EQ(run.fold.ops[i].type, fold_.ops[i].type);
    EXPECT_EQ(run.fold.ops[i].direction, fold_.ops[i].direction);
    EXPECT_EQ(run.fold.ops[i].framework, fold_.ops[i].framework);
    EXPECT_EQ(run.fold.ops[i].eligible, fold_.ops[i].eligible);
  }
  ASSERT_EQ(run.fold.iterations.size(), fold_.iterations.size());
  EXPECT_EQ(run.fold.iterations[1].start_ns, fold_.iterations[1].start_ns);
  EXPECT_EQ(run.fold.iterations[1].stop_ns, fold_.iterations[1].stop_ns);
  for (std::size_t i = 0; i < fold_.activity_instance.size(); ++i)
    EXPECT_EQ(run.fold.instances.at(run.fold.activity_instance[i]).op, fold_.instances[fold_.activity_instance[i]].op);
}

TEST_F(StoredRunTest, IsTheNewestAggregation) {
  write();
  fold_.key_node = "other";
  fold_.ops.pop_back();
  fold_.instances.pop_back();
  for (model::OpInstance& instance : fold_.instances) instance.op = 0;
  fold_.activity_instance = {0, 1, 1, 1};
  aggregate_ = {};
  aggregate_.last_iteration = 1;
  profile_.options.key_node = "other";
  (void)add_aggregation(path(), profile_);
  const model::Profile run = read_stored_run(path());
  EXPECT_EQ(run.fold.key_node, "other");
  EXPECT_EQ(run.fold.ops.size(), 1U);
}

TEST_F(StoredRunTest, SaysWhatWasAskedFor) {
  write();
  EXPECT_EQ(read_stored_run(path()).options, model::FoldOptions());
  EXPECT_EQ(read_stored_run(path()).range, model::IterationRange());
  profile_.options = {"/net/loss", {"default", "TSL"}};
  for (const model::IterationRange& range : {model::IterationRange{1, {}}, {{}, 1}, {0, model::kNone}}) {
    profile_.range = range;
    (void)add_aggregation(path(), profile_);
    EXPECT_EQ(read_stored_run(path()).options, profile_.options);
    EXPECT_EQ(read_stored_run(path()).range, range);
  }
}

struct HostileFold {
  const char* sql;
  const char* complaint;
};
class HostileStoredRunTest : public StoredRunTest, public testing::WithParamInterface<HostileFold> {};

TEST_P(HostileStoredRunTest, IsRefused) {
  write();
  run(GetParam().sql);
  EXPECT_THAT(reading_run(), AllOf(HasSubstr(GetParam().complaint), HasSubstr("make it again from the captures")));
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileStoredRunTest,
    testing::Values(HostileFold{"DELETE FROM aggregation", "table aggregation: it is missing"},
                    HostileFold{"UPDATE aggregation SET key_node_source = 'magic'", "a name of it is not known"},
                    HostileFold{"UPDATE aggregation SET last_iteration = 2", "those that the aggregation is of are missing"},
                    HostileFold{"UPDATE aggregation SET first_iteration = 2", "those that the aggregation is of are missing"},
                    HostileFold{"DELETE FROM iteration", "those that the aggregation is of are missing"},
                    HostileFold{"UPDATE iteration SET start_ns = 400 WHERE id = 1", "table iteration: start_ns is 400"},
                    HostileFold{"UPDATE op SET direction = 'aside'", "a name of it is not known"},
                    HostileFold{"UPDATE op SET framework = x'05'", "framework is a blob, not text"},
                    HostileFold{"UPDATE op SET name = x'00'", "name is a blob, not text"},
                    HostileFold{"UPDATE placement SET op = 2 WHERE activity = 1", "table placement: op is 2"},
                    HostileFold{"UPDATE placement SET iteration = 2 WHERE activity = 1", "iteration is 2"},
                    HostileFold{"DELETE FROM placement WHERE activity = 3", "there is not one for each row of table activity"},
                    HostileFold{"DELETE FROM placement WHERE activity = 1", "activity is 2, not 1"},
                    HostileFold{"UPDATE call SET thread = 2", "table call: thread is 2"},
                    HostileFold{"UPDATE call SET end_ns = 1 WHERE id = 1", "end_ns is 1"}));

}  // namespace
}  // namespace dlkprof::store
