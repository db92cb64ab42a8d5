#include "database_fixture.h"
#include "same_timeline.h"

namespace dlkprof::store::aggregation_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AggregationTest : public DatabaseTest {
 protected:
  AggregationTest() { write(); }

  int add(std::uint32_t first = 1) {
    profile_.options = {.key_node = "aten::mm_fprop_1", .domains = {"default", "TSL"}};
    profile_.range = {.start = first, .stop = {}};
    return add_aggregation(path(), profile_).id;
  }
};

TEST_F(AggregationTest, SaysWhatItWasMadeFrom) {
  EXPECT_THAT(rows("SELECT id, key_node_asked, domains, iter_start_asked, iter_stop_asked, key_node, key_node_source, "
                   "key_nodes_found, first_iteration, last_iteration, made_unix_ns > 1700000000000000000 FROM aggregation"),
              ElementsAre("1|||||/step|framework|1|0|1|1"));
}

TEST_F(AggregationTest, TheLastOneIsShownAndEarlierOnesStay) {
  fold_.ops[1].name = "/other/aten::mm";
  aggregate_.ops[0].gpu.total = 77;
  aggregate_.first_iteration = 1;
  EXPECT_EQ(add(), 2);
  EXPECT_EQ(add(), 2) << "it shows that already";
  EXPECT_EQ(add(0), 3);
  EXPECT_THAT(rows("SELECT key_node_asked, domains, iter_start_asked, iter_stop_asked FROM aggregation WHERE id = 3"),
              ElementsAre("aten::mm_fprop_1|default,TSL|0|"));
  EXPECT_THAT(rows("SELECT op_name, gpu_total_ns FROM detail"),
              ElementsAre("/other/aten::mm|77", "unassociated_[CUDA memcpy HtoD]|100"));
  EXPECT_THAT(rows("SELECT gpu_total_ns FROM op_stats WHERE rank = 0"), ElementsAre("1000", "77", "77"));
  EXPECT_THAT(rows("SELECT iteration, aggregated FROM iterations"), ElementsAre("0|0", "1|1"));
  EXPECT_THAT(rows("SELECT count(*) FROM kernels"), ElementsAre("4"));
  EXPECT_THAT(rows("PRAGMA integrity_check"), ElementsAre("ok"));
  test::expect_same(read_timeline(path()), timeline_);
}

TEST_F(AggregationTest, OfAnotherTimelineIsRefused) {
  fold_.activity_instance.pop_back();
  EXPECT_THAT(message_of([this] { (void)add(); }), HasSubstr("changed since it was read"));
  EXPECT_THAT(rows("SELECT max(id) FROM aggregation"), ElementsAre("1"));
}

TEST_F(AggregationTest, IdsEnd) {
  run("UPDATE aggregation SET id = 9223372036854775807");
  EXPECT_THAT(message_of([this] { (void)add(); }), HasSubstr("its last aggregation is 9223372036854775807"));
}

TEST_F(AggregationTest, DatabasesOfOthersAreLeftAlone) {
  run("PRAGMA application_id=0");
  EXPECT_THAT(message_of([this] { (void)add(); }), HasSubstr("another program"));
  EXPECT_THAT(rows("SELECT max(id) FROM aggregation"), ElementsAre("1"));
}

TEST_F(AggregationTest, TriggersOfOthersAreNotRun) {
  run("CREATE TRIGGER mine AFTER INSERT ON op BEGIN DELETE FROM activity; END");
  EXPECT_EQ(add(), 2);
  EXPECT_THAT(rows("SELECT count(*) FROM activity"), ElementsAre("4"));
}

TEST_F(AggregationTest, IsUndoneWhereItFails) {
  run("INSERT INTO placement VALUES (2, 0, 0, 0, NULL)");  // the row that is to come
  EXPECT_THAT(message_of([this] { (void)add(); }), HasSubstr("UNIQUE"));
  EXPECT_THAT(rows("SELECT id FROM aggregation"), ElementsAre("1"));
  EXPECT_THAT(rows("SELECT aggregation FROM op WHERE aggregation > 1"), IsEmpty());
}

}  // namespace
}  // namespace dlkprof::store::aggregation_test
