#include "model/aggregate/op_groups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/print_stats.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::op_groups_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kKeyNode = "Optimizer.zero_grad#SGD.zero_grad";
constexpr const char* kRatio = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kCount = "dram__bytes.sum";

// An iteration of a program of modules, op after op.
class Network {
 public:
  // An op within modules such as "net", "layers.0", "mlp", with a kernel of so many ns.
  Network& op(const std::vector<std::string>& modules, const std::string& type, std::int64_t gpu_ns,
              const std::string& shapes = "[[4, 8]]", const std::string& kernel = "k") {
    enter(modules);
    builder_.range(fmt::format("{}, seq = {}, op_id = 1, sizes = {}", type, ++sequence_, shapes), at_ + 20, at_ + 80);
    builder_.launch(kernel, at_ + 21, gpu_, gpu_ + gpu_ns);
    return next(gpu_ns);
  }
  // The backward op of the last one.
  Network& backward(std::int64_t gpu_ns) {
    builder_.range(fmt::format("MmBackward0, seq = {}", sequence_), at_, at_ + 90, backward_thread_);
    builder_.launch("k_backward", at_ + 1, gpu_, gpu_ + gpu_ns, backward_thread_);
    return next(gpu_ns);
  }
  // An op outside of modules.
  Network& alone(const std::vector<std::string>& ranges, std::int64_t gpu_ns) {
    enter({});
    std::int64_t start = at_;
    for (const std::string& range : ranges) builder_.range(range, start++, at_ + 90);
    builder_.launch("k", start + 1, gpu_, gpu_ + gpu_ns);
    return next(gpu_ns);
  }
  test::TimelineBuilder& builder() { return builder_; }
  [[nodiscard]] Profile profile() {
    enter({});
    test::TimelineBuilder whole = builder_;
    for (const std::int64_t at : {std::int64_t{0}, at_}) whole.range(kKeyNode, at, at + 10);
    Profile made;
    made.timeline = whole.build();
    made.fold = fold(made.timeline);
    made.aggregate = aggregate(made.timeline, made.fold);
    return made;
  }

 private:
  // Calls of modules go on from one op to the next, as far as both are in the same.
  struct Open {
    std::string name;
    std::int64_t start = 0;
  };

  void enter(const std::vector<std::string>& modules) {
    std::size_t same = 0;
    while (same < open_.size() && same < modules.size() && open_[same].name == modules[same]) ++same;
    while (open_.size() > same) leave();
    while (open_.size() < modules.size()) {
      open_.push_back({modules[open_.size()], at_ + static_cast<std::int64_t>(open_.size())});
    }
  }
  void leave() {
    builder_.range("dlkprof:module: " + open_.back().name, open_.back().start, at_ - static_cast<std::int64_t>(open_.size()));
    open_.pop_back();
  }

  Network& next(std::int64_t gpu_ns) {
    at_ += 100;
    gpu_ += gpu_ns;
    return *this;
  }

  test::TimelineBuilder builder_;
  std::uint32_t backward_thread_ = builder_.thread();
  std::int64_t at_ = 100, gpu_ = 1'000'000;
  int sequence_ = 0;
  std::vector<Open> open_;
};

std::vector<std::pair<std::string, std::int64_t>> times(const std::vector<OpGroupRow>& rows) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const OpGroupRow& row : rows) found.emplace_back(row.name, row.gpu_ns);
  return found;
}

Network transformer(int layers) {
  Network network;
  for (int i = 0; i < layers; ++i) {
    const std::string layer = fmt::format("layers.{}", i);
    network.op({"net", layer, "mlp", "up"}, "aten::mm", 100 + i).backward(200);
    network.op({"net", layer, "mlp", "down"}, "aten::mm", 50);
    network.op({"net", layer, "norm"}, "aten::mul", 10);
  }
  network.op({"net", "head"}, "aten::mm", 30);
  return network.alone({"Optimizer.step#SGD.step", "aten::_foreach_add_"}, 20).alone({"aten::argmax"}, 5);
}

TEST(OpGroupsTest, RepeatedLayersAreOneRow) {
  const Profile profile = transformer(4).profile();
  const std::vector<OpGroupRow> rows = group_ops(profile, By::layer);
  EXPECT_THAT(times(rows),
              ElementsAre(Pair("/net/layers/*/mlp", 800), Pair("/net/layers/*/mlp", 606), Pair("/net/layers/*/norm", 40),
                          Pair("/net/head", 30), Pair("/Optimizer.step#SGD.step", 20), Pair("/aten::argmax", 5)));
  EXPECT_EQ(rows[0].direction, Direction::bprop);
  EXPECT_EQ(rows[1].direction, Direction::fprop);
  EXPECT_EQ(rows[1].type, "aten::mm");
  EXPECT_EQ(rows[1].ops, 8U);
  EXPECT_EQ(rows[1].calls, 8U);
  EXPECT_EQ(rows[1].launches, 8U);
  EXPECT_DOUBLE_EQ(rows[1].share, 606.0 / 1501);
  ASSERT_TRUE(rows[1].layers);
  EXPECT_EQ(rows[1].layers->gpu, (Stats{4, 606, 150, 153}));
  EXPECT_NEAR(*rows[1].layers->deviation, 1.2909944, 1e-6);
  EXPECT_EQ(rows[1].layers->slowest, "/net/layers/3");
  EXPECT_FALSE(rows[3].layers);
}

TEST(OpGroupsTest, ModulesAreInnermostOnesWithBothPasses) {
  const Profile profile = transformer(2).profile();
  EXPECT_THAT(times(group_ops(profile, By::module)),
              ElementsAre(Pair("/net/layers/*/mlp/up", 601), Pair("/net/layers/*/mlp/down", 100), Pair("/net/head", 30),
                          Pair("/Optimizer.step#SGD.step", 20), Pair("/net/layers/*/norm", 20), Pair("/aten::argmax", 5)));
}

TEST(OpGroupsTest, AnIndexAloneIsNotFolded) {
  EXPECT_THAT(times(group_ops(transformer(1).profile(), By::module)), testing::Contains(Pair("/net/layers/0/mlp/up", 300)));
}

TEST(OpGroupsTest, WhatHoldsSomethingElseStaysApart) {
  Network network;
  network.op({"net", "0"}, "aten::conv2d", 7, "[[4, 3, 32, 32]]").op({"net", "1"}, "aten::relu", 1);
  network.op({"net", "2"}, "aten::conv2d", 9, "[[4, 64, 32, 32]]").op({"net", "3"}, "aten::relu", 1);
  network.op({"net", "stage1", "0"}, "aten::mm", 20).op({"net", "stage1", "1"}, "aten::mm", 21);
  network.op({"net", "stage2", "0"}, "aten::mm", 40, "[[2, 2]]").op({"net", "stage2", "1"}, "aten::mm", 41, "[[2, 2]]");
  EXPECT_THAT(
      times(group_ops(network.profile(), By::layer)),
      ElementsAre(Pair("/net/stage2/*", 81), Pair("/net/stage1/*", 41), Pair("/net/2", 9), Pair("/net/0", 7), Pair("/net/*", 2)));
}

TEST(OpGroupsTest, ClassesOfOneNameListTheirNumbers) {
  Network network;
  for (const int i : {0, 2, 4, 6, 10}) network.op({"net", std::to_string(i)}, "aten::linear", 10 + i);
  for (const int i : {1, 3}) network.op({"net", std::to_string(i)}, "aten::relu", 1);
  EXPECT_THAT(times(group_ops(network.profile(), By::layer)), ElementsAre(Pair("/net/{0,2,4,6,...}", 72), Pair("/net/{1,3}", 2)));
}

TEST(OpGroupsTest, NumbersAtTheEndOfNamesFoldToo) {
  Network network;
  network.op({"net", "block3", "a"}, "aten::mm", 10).op({"net", "block4", "a"}, "aten::mm", 12).op({"net", "fc1"}, "aten::mm", 1);
  EXPECT_THAT(times(group_ops(network.profile(), By::layer)), ElementsAre(Pair("/net/block*/a", 22), Pair("/net/fc1", 1)));
}

TEST(OpGroupsTest, CallsOfAModuleAreOneRow) {
  Network network;
  network.builder().range("generate", 0, 10'000);
  for (int i = 0; i < 3; ++i) network.op({"decoder", "head"}, "aten::mm", 10).alone({"aten::argmax"}, 1);
  const std::vector<OpGroupRow> rows = group_ops(network.profile(), By::layer);
  EXPECT_THAT(times(rows), ElementsAre(Pair("/generate/decoder(*)/head", 30), Pair("/generate/aten::argmax(*)", 3)));
  EXPECT_FALSE(rows[0].layers) << "these are not layers";
}

TEST(OpGroupsTest, InsideCompiledRegionsTypesTellOpsApart) {
  Network network;
  for (int i = 0; i < 3; ++i) network.alone({"dlkprof:module: net", "CompiledFunction", "aten::mm"}, 10);
  network.alone({"dlkprof:module: net", "CompiledFunction", "triton_poi_fused_add_0"}, 3);
  network.alone({"dlkprof:module: net", "CompiledFunction", "## Call CompiledFxGraph f5feb3jvz ##"}, 2);
  network.alone({"dlkprof:module: net", "CompiledFunction", "## Call CompiledFxGraph x9 ##"}, 2);
  EXPECT_THAT(times(group_ops(network.profile(), By::layer)),
              ElementsAre(Pair("/net(*)/CompiledFunction/aten::mm", 30), Pair("/net(*)/CompiledFunction/CompiledFxGraph", 4),
                          Pair("/net(*)/CompiledFunction/triton_poi_fused_add_0", 3)));
}

TEST(OpGroupsTest, ByTypeDirectionOpAndKernel) {
  const Profile profile = transformer(2).profile();
  EXPECT_THAT(times(group_ops(profile, By::type)),
              ElementsAre(Pair("MmBackward0", 400), Pair("aten::mm", 331), Pair("aten::_foreach_add_", 20), Pair("aten::mul", 20),
                          Pair("aten::argmax", 5)));
  EXPECT_THAT(times(group_ops(profile, By::kernel)), ElementsAre(Pair("k_backward", 400), Pair("k", 376)));
  EXPECT_THAT(group_ops(profile, By::op), SizeIs(11));
  EXPECT_THAT(times(group_ops(profile, By::direction)), testing::Contains(Pair("bprop", 400)));
}

TEST(OpGroupsTest, EveryWayHoldsTheSameGpuTime) {
  const Profile profile = transformer(3).profile();
  for (std::size_t by = 0; by < by_names().size(); ++by) {
    std::int64_t gpu_ns = 0;
    double share = 0;
    for (const OpGroupRow& row : group_ops(profile, static_cast<By>(by))) {
      gpu_ns += row.gpu_ns;
      share += row.share;
      EXPECT_GT(row.gpu_ns, 0);
      EXPECT_THAT(row.rows, testing::Not(IsEmpty()));
    }
    EXPECT_EQ(gpu_ns, profile.aggregate.summary.all_ops.gpu_ns) << by_names()[by];
    EXPECT_NEAR(share, 1, 1e-12) << by_names()[by];
  }
}

TEST(OpGroupsTest, CopiesAreToldFromKernels) {
  Network network;
  network.op({"net", "a"}, "aten::mm", 100).op({"net", "a"}, "aten::copy_", 30, "[[1]]", "[CUDA memcpy HtoD]");
  const Profile profile = network.profile();
  for (std::size_t by = 0; by < by_names().size(); ++by) {
    std::int64_t copies_ns = 0;
    for (const OpGroupRow& row : group_ops(profile, static_cast<By>(by))) copies_ns += row.copies_gpu_ns;
    EXPECT_EQ(copies_ns, 30) << by_names()[by];
  }
}

TEST(OpGroupsTest, CountersJoinAsThoseOfOps) {
  Network network;
  network.op({"net", "layers.0", "a"}, "aten::mm", 100, "[[1]]", "small")
      .op({"net", "layers.1", "a"}, "aten::mm", 300, "[[1]]", "large");
  network.builder().measured("small", kRatio, {10}).measured("large", kRatio, {50});
  network.builder().measured("small", kCount, {7}).measured("large", kCount, {5});
  const std::vector<OpGroupRow> rows = group_ops(network.profile(), By::layer);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_DOUBLE_EQ(rows[0].counters.values.at(kRatio), 40) << "by GPU time";
  EXPECT_DOUBLE_EQ(rows[0].counters.values.at(kCount), 12) << "a sum";
  EXPECT_EQ(rows[0].counters.covered_ns, 400);
}

TEST(OpGroupsTest, KeepsToTheIterationsAggregated) {
  Profile profile = transformer(2).profile();
  profile.aggregate = aggregate(profile.timeline, profile.fold, {0, 0});
  for (std::size_t by = 0; by < by_names().size(); ++by) {
    EXPECT_THAT(group_ops(profile, static_cast<By>(by)), IsEmpty()) << by_names()[by];
  }
}

TEST(OpGroupsTest, NamesAreInTheOrderOfTheEnumeration) {
  EXPECT_STREQ(by_names()[static_cast<std::size_t>(By::layer)], "layer");
  EXPECT_STREQ(by_names()[static_cast<std::size_t>(By::kernel)], "kernel");
}

}  // namespace
}  // namespace dlkprof::model::op_groups_test
