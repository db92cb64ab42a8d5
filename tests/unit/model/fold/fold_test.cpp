#include "model/fold/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "model/fold/instance_activities.h"
#include "model/fold/op_tree.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::fold_test {
namespace {

using test::TimelineBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> op_names(const Fold& fold) {
  std::vector<std::string> names;
  for (const OpInstance& instance : fold.instances) names.push_back(fold.ops[instance.op].name);
  return names;
}

const Op& op_of(const Fold& fold, std::size_t instance) { return fold.ops[fold.instances[instance].op]; }

constexpr const char* kZeroGrad = "Optimizer.zero_grad#SGD.zero_grad";

TEST(FoldTest, AnEmptyTimelineIsOneIteration) {
  const Fold empty = fold(Timeline{});
  EXPECT_TRUE(empty.ops.empty());
  EXPECT_TRUE(empty.instances.empty());
  EXPECT_EQ(empty.iterations.size(), 1U);
  EXPECT_EQ(empty.key_nodes_found, 0U);
  EXPECT_EQ(empty.key_node_source, KeyNodeSource::none);
}

TEST(FoldTest, DomainsAreNamedAsTheyAreAskedFor) {
  TimelineBuilder builder;
  EXPECT_THAT(domain_names(builder.build()), IsEmpty());
  builder.range("a", 0, 9, 0, {"TSL"}).range("b", 1, 8).range("c", 2, 7, 0, {"TSL"}).range("TSL", 3, 6);
  EXPECT_THAT(domain_names(builder.build()), ElementsAre("TSL", "default"));
}

TEST(FoldTest, KernelsBelongToTheInnermostRange) {
  TimelineBuilder builder;
  builder.range("outer", 0, 100).range("inner", 10, 50);
  builder.launch("in", 20, 200, 230).launch("out", 60, 240, 250).launch("none", 150, 260, 270);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  EXPECT_THAT(op_names(made), ElementsAre("/outer", "/outer/inner", "unassociated_none"));
  EXPECT_THAT(made.activity_instance, ElementsAre(1, 0, 2));
  EXPECT_EQ(activities.times(0).gpu_ns, 10);
  EXPECT_EQ(activities.times(1).gpu_ns, 30);
  EXPECT_EQ(activities.times(2).gpu_ns, 10);
  EXPECT_FALSE(op_of(made, 0).leaf);
  EXPECT_TRUE(op_of(made, 1).leaf);
}

TEST(FoldTest, OverheadIsTimeOutsideOfAllCallsInside) {
  TimelineBuilder builder;
  builder.range("outer", 0, 100).range("inner", 10, 50);
  builder.call("cuLaunchKernel", 20, 25);
  builder.call("cuMemcpyAsync", 40, 48);
  builder.call("cuStreamSynchronize", 60, 80);
  builder.call("cuLaunchKernel", 30, 90, builder.thread());  // another thread's
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  EXPECT_EQ(cpu_times(timeline, made, 0).overhead_ns, 100 - 5 - 8 - 20);
  EXPECT_EQ(cpu_times(timeline, made, 1).overhead_ns, 40 - 5 - 8);
  EXPECT_EQ(cpu_times(timeline, made, 0).cpu_ns, 100);
  EXPECT_EQ(cpu_times(timeline, made, 2).cpu_ns, 60);
  EXPECT_EQ(cpu_times(timeline, made, 2).overhead_ns, 0);
}

TEST(FoldTest, MappedTimeHoldsIdleTimeAndUnionsOverlaps) {
  TimelineBuilder builder;
  builder.range("op", 0, 50);
  builder.launch("a", 1, 100, 120).launch("b", 5, 110, 130).launch("[CUDA memset]", 9, 150, 155);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  EXPECT_EQ(activities.times(0).gpu_ns, 20 + 20 + 5);
  EXPECT_EQ(activities.times(0).mapped_ns, 55);
  EXPECT_EQ(activities.times(0).idle_ns, 20);
}

TEST(FoldTest, WorkThatWasNotTimedAddsNothing) {
  TimelineBuilder builder;
  builder.range("op", 1'000, 1'050);
  builder.launch("a", 1'001, 0, 0).launch("a", 1'010, 2'000, 2'010);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  EXPECT_EQ(activities.times(0).gpu_ns, 10);
  EXPECT_EQ(activities.times(0).mapped_ns, 10);
  EXPECT_THAT(made.activity_instance, ElementsAre(0, 0));
}

TEST(FoldTest, SiblingsOfOneNameAreNumbered) {
  TimelineBuilder builder;  // guide, 11.1
  builder.range("a", 0, 100);
  builder.range("b", 1, 40).range("conv1d", 2, 10).range("conv1d", 12, 20).range("other", 22, 30);
  builder.range("b", 50, 90).range("conv1d", 52, 60).range("conv1d", 62, 70);
  EXPECT_THAT(op_names(fold(builder.build())), ElementsAre("/a", "/a/b", "/a/b/conv1d", "/a/b/conv1d(2)", "/a/b/other", "/a/b(2)",
                                                           "/a/b(2)/conv1d", "/a/b(2)/conv1d(2)"));
}

TEST(FoldTest, IdsAreUnique) {
  TimelineBuilder builder;
  builder.range("aten::mm, seq = 1", 0, 10).range("aten::mm", 20, 30).range("x/aten::mm", 40, 50).range("aten::mm_fprop", 60, 70);
  const Fold made = fold(builder.build());
  std::set<std::string> ids;
  for (const Op& op : made.ops) ids.insert(op.id);
  EXPECT_EQ(ids.size(), made.ops.size());
  EXPECT_EQ(op_of(made, 0).id, "aten::mm_fprop_1");
  EXPECT_EQ(op_of(made, 1).id, "aten::mm_1");
}

TEST(FoldTest, TheSameNameOnTwoThreadsIsOneOp) {
  TimelineBuilder builder;
  const std::uint32_t other = builder.thread();
  builder.range("op", 0, 10).range("op", 5, 15, other).range("op", 20, 30, other);
  EXPECT_THAT(op_names(fold(builder.build())), ElementsAre("/op", "/op", "/op(2)"));
}

TEST(FoldTest, MachineryIsNotInPaths) {
  TimelineBuilder builder;
  builder.range("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 0, 100);
  builder.range("torch::autograd::AccumulateGrad, op_id = 3", 10, 90).range("aten::detach", 20, 30);
  const Fold made = fold(builder.build());
  EXPECT_EQ(op_of(made, 1).name, "/torch::autograd::AccumulateGrad");
  EXPECT_EQ(op_of(made, 2).name, "/torch::autograd::AccumulateGrad/aten::detach");
  EXPECT_EQ(op_of(made, 2).direction, Direction::none);
}

TEST(FoldTest, BackwardRangesHaveTheNameOfTheirForwardOp) {
  TimelineBuilder builder;
  const std::uint32_t engine = builder.thread();
  builder.range("net", 0, 100).range("aten::conv2d, seq = 32, op_id = 1", 10, 50);
  builder.range("aten::convolution, seq = 32, op_id = 2", 12, 48).range("aten::cudnn_convolution, op_id = 3", 14, 40);
  builder.range("autograd::engine::evaluate_function: ConvolutionBackward0, op_id = 7", 200, 300, engine);
  builder.range("ConvolutionBackward0, seq = 32, op_id = 8", 210, 280, engine);
  builder.range("aten::convolution_backward, op_id = 9", 220, 270, engine);
  builder.range("aten::sum, op_id = 10", 285, 290, engine);  // the engine's own, after its node
  builder.launch("dgrad", 230, 400, 500, engine);
  const Fold made = fold(builder.build());
  const char* forward = "/net/aten::conv2d/aten::convolution";
  EXPECT_EQ(op_of(made, 0).direction, Direction::none);
  EXPECT_EQ(op_of(made, 1).direction, Direction::fprop);
  EXPECT_EQ(op_of(made, 3).direction, Direction::fprop) << "within a range that has a sequence number";
  for (const std::size_t instance : {4U, 5U, 6U, 7U}) {
    EXPECT_EQ(op_of(made, instance).name, forward) << instance;
    EXPECT_EQ(op_of(made, instance).direction, Direction::bprop) << instance;
    EXPECT_EQ(made.instances[instance].forward, 2U) << instance;
  }
  EXPECT_EQ(op_of(made, 6).type, "aten::convolution_backward");
  EXPECT_EQ(op_of(made, 6).id, "aten::convolution_backward_bprop_1");
  EXPECT_EQ(made.activity_instance[0], 6U);
  EXPECT_EQ(made.instances[3].forward, kNone);
}

TEST(FoldTest, SequenceNumbersAreUsedAnew) {
  TimelineBuilder builder;
  const std::uint32_t second = builder.process();
  const std::uint32_t theirs = builder.thread(second);
  builder.range("first, seq = 5", 0, 10).range("second, seq = 5", 20, 30);
  builder.range("theirs, seq = 5", 31, 33, theirs);
  builder.range("MulBackward0, seq = 5", 40, 50).range("third, seq = 5", 60, 70).range("MulBackward0, seq = 5", 80, 90);
  builder.range("MulBackward0, seq = 6", 100, 110);
  const Fold made = fold(builder.build());
  EXPECT_EQ(op_of(made, 3).name, "/second");
  EXPECT_EQ(op_of(made, 5).name, "/third");
  EXPECT_EQ(op_of(made, 6).name, "/MulBackward0(3)") << "its forward op was not seen";
  EXPECT_EQ(op_of(made, 6).direction, Direction::none);
}

TEST(FoldTest, SequenceNumbersOfAllSizesStayApart) {
  const std::vector<std::int64_t> sequences{0, 1, 63, 64, 127, 128, 1'000'000, std::int64_t{1} << 40U};
  TimelineBuilder builder;
  std::int64_t at = 0;
  for (const std::int64_t sequence : sequences) {
    builder.range("aten::mm, seq = " + std::to_string(sequence), at, at + 5);
    at += 10;
  }
  for (auto sequence = sequences.rbegin(); sequence != sequences.rend(); ++sequence) {
    builder.range("MmBackward0, seq = " + std::to_string(*sequence), at, at + 5);
    at += 10;
  }
  const Fold made = fold(builder.build());
  ASSERT_EQ(made.instances.size(), 2 * sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    EXPECT_EQ(made.instances[made.instances.size() - 1 - i].forward, i) << sequences[i];
  }
}

TEST(FoldTest, RecomputationInABackwardRangeIsOfTheSameForwardOp) {
  TimelineBuilder builder;
  builder.range("CheckpointFunction, seq = 9", 0, 10);
  builder.range("CheckpointFunctionBackward, seq = 9", 20, 90)
      .range("aten::mm, seq = 1", 30, 40)
      .range("MmBackward0, seq = 1", 50, 60);
  const Fold made = fold(builder.build());
  for (const std::size_t instance : {1U, 2U, 3U}) EXPECT_EQ(op_of(made, instance).name, "/CheckpointFunction") << instance;
  EXPECT_EQ(made.instances[3].forward, 2U);
}

TEST(FoldTest, OpsHaveTheInputsOfTheirFirstInstance) {
  TimelineBuilder builder;
  builder.range("aten::mm, op_id = 1, sizes = [[4, 8], [8, 2]]", 0, 10);
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.ops[0].input_shapes, "[[4, 8], [8, 2]]");
  EXPECT_EQ(made.ops[0].framework, Framework::pytorch);
  EXPECT_TRUE(made.ops[0].eligible);
}

TEST(FoldTest, AnOpIsEligibleWhoseKernelUsesTensorCores) {
  TimelineBuilder builder;
  builder.range("mine", 0, 10).range("yours", 20, 30);
  builder.launch("magic", 2, 40, 50).launch("other", 22, 60, 70);
  builder.measured("magic", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", {12.5});
  const Fold made = fold(builder.build());
  EXPECT_TRUE(op_of(made, 0).eligible);
  EXPECT_FALSE(op_of(made, 1).eligible);
}

TEST(FoldTest, CallsAndWorkOutsideOfRangesAreUnassociated) {
  TimelineBuilder builder;
  builder.call("cuStreamSynchronize", 0, 50);
  builder.activity(builder.call("cuMemcpyHtoDAsync", 60, 70), "[CUDA memcpy HtoD]", 65, 100);
  builder.activity(model::kNone, "orphan", 110, 130);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  EXPECT_THAT(op_names(made),
              ElementsAre("unassociated_cuStreamSynchronize", "unassociated_[CUDA memcpy HtoD]", "unassociated_orphan"));
  EXPECT_EQ(op_of(made, 0).type, "cuStreamSynchronize");
  EXPECT_EQ(cpu_times(timeline, made, 0).cpu_ns, 50);
  EXPECT_EQ(cpu_times(timeline, made, 1).cpu_ns, 10);
  EXPECT_EQ(activities.times(1).gpu_ns, 35);
  EXPECT_EQ(cpu_times(timeline, made, 2).cpu_ns, 0);
  EXPECT_EQ(activities.times(2).gpu_ns, 20);
}

TEST(FoldTest, AGraphLaunchOutsideOfRangesIsAnInstanceAKernel) {
  TimelineBuilder builder;
  const std::uint32_t graph = builder.call("cuGraphLaunch", 0, 10);
  builder.activity(graph, "a", 20, 30).activity(graph, "b", 30, 40).activity(graph, "a", 40, 50);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  EXPECT_THAT(op_names(made), ElementsAre("unassociated_a", "unassociated_b"));
  EXPECT_EQ(activities.times(0).gpu_ns, 20);
  EXPECT_EQ(cpu_times(timeline, made, 0).cpu_ns + cpu_times(timeline, made, 1).cpu_ns, 10) << "the call counts once";
}

TEST(FoldTest, EachLaunchOutsideOfRangesIsAnInstance) {
  TimelineBuilder builder;
  builder.launch("a", 0, 20, 30).launch("a", 10, 30, 50);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  EXPECT_THAT(op_names(made), ElementsAre("unassociated_a", "unassociated_a"));
  EXPECT_EQ(activities.times(1).gpu_ns, 20);
}

TEST(FoldTest, OnlyRangesOfTheDomainsAskedForCount) {
  TimelineBuilder builder;
  builder.range("outer", 0, 100).range("middle", 10, 90, 0, {"mine"}).range("inner", 20, 80, 0, {"yours"});
  builder.launch("k", 30, 200, 210);
  const Timeline timeline = builder.build();
  EXPECT_THAT(op_names(fold(timeline)), ElementsAre("/outer", "/outer/middle", "/outer/middle/inner"));
  const Fold mine = fold(timeline, {"", {"mine"}});
  EXPECT_THAT(op_names(mine), ElementsAre("/middle"));
  EXPECT_THAT(mine.activity_instance, ElementsAre(0));
  EXPECT_THAT(op_names(fold(timeline, {"", {"default", "yours"}})), ElementsAre("/outer", "/outer/inner"));
  EXPECT_THAT(op_names(fold(timeline, {"", {"nobody's"}})), ElementsAre("unassociated_k"));
}

TEST(FoldTest, StartEndRangesMayOverlap) {
  TimelineBuilder builder;
  const TimelineBuilder::InDomain start_end{"", capture::RangeKind::start_end};
  builder.range("a", 0, 50, 0, start_end).range("b", 30, 100, 0, start_end);
  builder.call("cuLaunchKernel", 60, 70);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  EXPECT_THAT(op_names(made), ElementsAre("/a", "/a/b"));
  EXPECT_EQ(cpu_times(timeline, made, 0).overhead_ns, 50) << "the call was made after its end";
  EXPECT_EQ(cpu_times(timeline, made, 1).overhead_ns, 60);
}

TEST(FoldGroupTest, NodesThatHaveOthersBelowThem) {
  TimelineBuilder builder;
  builder.range("a", 0, 100).range("b", 10, 50).range("c", 20, 30).range("d", 110, 120);
  const Fold made = fold(builder.build());
  ASSERT_EQ(made.groups.size(), 2U);
  EXPECT_EQ(made.groups[0].name, "/a");
  EXPECT_EQ(made.groups[0].parent, kNone);
  EXPECT_EQ(made.groups[1].name, "/a/b");
  EXPECT_EQ(made.groups[1].parent, 0U);
  EXPECT_EQ(op_of(made, 0).own_group, 0U);
  EXPECT_EQ(op_of(made, 0).group, kNone);
  EXPECT_EQ(op_of(made, 1).group, 0U);
  EXPECT_EQ(op_of(made, 2).group, 1U);
  EXPECT_EQ(op_of(made, 2).own_group, kNone);
  EXPECT_EQ(op_of(made, 3).group, kNone);
}

TEST(HostileFoldTest, PathsOfThousandsOfNestedRangesAreCut) {
  TimelineBuilder builder;
  constexpr std::int64_t kDepth = 3'000;
  for (std::int64_t i = 0; i < kDepth; ++i) builder.range("range" + std::to_string(i), i, 3 * kDepth - i);
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.instances.size(), static_cast<std::size_t>(kDepth));
  EXPECT_LE(made.groups.size(), kMaxOpDepth);
  EXPECT_THAT(op_of(made, kDepth - 1).name, testing::EndsWith("/..."));
  for (const Op& op : made.ops) EXPECT_LE(op.name.size(), kMaxOpPath + 4);
}

TEST(HostileFoldTest, TimesThatRunBackwardsOrOverflowCountForNothing) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  TimelineBuilder builder;
  builder.range(kZeroGrad, kLeast, kMost).range(kZeroGrad, 10, 5).range(kZeroGrad, 20, kLeast, builder.thread());
  builder.activity(builder.call("cuLaunchKernel", 50, 40), "k", 100, 90);
  builder.activity(builder.call("cuLaunchKernel", kLeast, kMost), "k", kLeast, kMost);
  builder.activity(builder.call("cuLaunchKernel", 60, kMost), "k", kLeast, kMost);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  const InstanceActivities activities(timeline, made);
  for (std::size_t i = 0; i < made.instances.size(); ++i) {
    EXPECT_GE(cpu_times(timeline, made, i).cpu_ns, 0);
    EXPECT_GE(cpu_times(timeline, made, i).overhead_ns, 0);
    EXPECT_GE(activities.times(i).gpu_ns, 0);
    EXPECT_GE(activities.times(i).idle_ns, 0);
    EXPECT_LT(made.instances[i].iteration, made.iterations.size());
  }
}

TEST(HostileFoldTest, MessagesOfAnyBytesAreOps) {
  TimelineBuilder builder;
  builder.range("", 0, 10).range(std::string(1U << 20U, 'x'), 20, 30).range("a\x1b[31m\xff", 40, 50);
  const Fold made = fold(builder.build());
  ASSERT_EQ(made.ops.size(), 3U);
  for (const Op& op : made.ops) {
    EXPECT_GE(op.name.size(), 2U);
    EXPECT_LE(op.name.size(), kMaxOpPath);
  }
}

}  // namespace
}  // namespace dlkprof::model::fold_test
