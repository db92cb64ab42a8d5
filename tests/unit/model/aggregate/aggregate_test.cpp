#include "model/aggregate/aggregate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/aggregate/tensor_core_use.h"
#include "support/print_stats.h"
#include "support/timeline_builder.h"
#include "unit/model/aggregate/folded.h"

namespace dlkprof::model::aggregate_test {
namespace {

using test::TimelineBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kKeyNode = "Optimizer.zero_grad#SGD.zero_grad";
constexpr const char* kTensorMetric = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kGemm = "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n";

Stats stats(std::uint64_t n, std::int64_t total, std::int64_t least, std::int64_t most) { return {n, total, least, most}; }

// Three iterations (and the end of the program) of an op of 20, 30 and 40 ns, and a kernel of 5, 6 and 7.
TimelineBuilder three_steps() {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    builder.range("op", 100 * i, 100 * i + 20 + 10 * i).launch("k", 100 * i + 4, 100 * i + 10, 100 * i + 15 + i);
    builder.range(kKeyNode, 100 * i + 60, 100 * i + 70);
  }
  return builder;
}

TEST(AggregateTest, AnEmptyTimelineHasNoRows) {
  const Folded empty{TimelineBuilder()};
  EXPECT_TRUE(empty.made.ops.empty());
  EXPECT_TRUE(empty.made.groups.empty());
  EXPECT_EQ(empty.made.summary.wall_ns, 0);
  EXPECT_EQ(empty.made.summary.total_iterations, 0U);
  EXPECT_EQ(empty.made.summary.aggregated_iterations, 1U);
  EXPECT_FALSE(empty.made.summary.tc_utilization);
}

TEST(AggregateTest, AccumulatesInstances) {
  const Folded folded(three_steps(), {0, {}});
  const OpRow& op = folded.op("/op");
  EXPECT_EQ(op.cpu, stats(3, 90, 20, 40));
  EXPECT_EQ(op.gpu, stats(3, 18, 5, 7));
  EXPECT_EQ(op.overhead, stats(3, 84, 18, 38));
  EXPECT_EQ(op.mapped, op.gpu);
  EXPECT_EQ(op.idle, stats(3, 0, 0, 0));
  EXPECT_DOUBLE_EQ(op.cpu.mean(), 30);
  ASSERT_EQ(folded.made.kernels.size(), 1U);
  EXPECT_EQ(folded.made.kernels[0].gpu, op.gpu);
  EXPECT_EQ(folded.made.kernels[0].api, stats(3, 6, 2, 2));
  EXPECT_EQ(folded.type("op").gpu, op.gpu);
  EXPECT_EQ(folded.type("op").nodes, 1U);
}

TEST(AggregateTest, OfARangeOfIterationsOnly) {
  const Folded folded(three_steps(), {1, 1});
  EXPECT_EQ(folded.op("/op").cpu, stats(1, 30, 30, 30));
  EXPECT_EQ(folded.made.kernels[0].gpu, stats(1, 6, 6, 6));
  EXPECT_EQ(folded.made.summary.wall_ns, 100);
  EXPECT_EQ(folded.made.summary.start_iteration, 1U);
  EXPECT_EQ(folded.made.summary.aggregated_iterations, 1U);
  const Folded last(three_steps(), {2, std::nullopt});
  EXPECT_EQ(last.op("/op").cpu, stats(1, 40, 40, 40));
  EXPECT_EQ(last.made.last_iteration, 3U);
}

// Steps of 100 ns with a kernel of 5, after one of 5,000 with a kernel of 4,000, and 700 ns at the end.
TimelineBuilder steps_after_warm_up() {
  TimelineBuilder builder;
  builder.range("op", 0, 20).range(kKeyNode, 60, 70);
  std::int64_t at = 70;
  for (const std::int64_t length : {5'000, 100, 110, 90, 100}) {
    builder.range("op", at, at + 20).launch("k", at + 4, at + 10, at + (length > 1'000 ? 4'010 : 15));
    at += length;
    builder.range(kKeyNode, at - 10, at);
  }
  return builder.range("op", at, at + 700);
}

TEST(AggregateTest, IsOfTheSteadyRangeUnlessAnotherIsAskedFor) {
  const Folded found(steps_after_warm_up());
  EXPECT_EQ(found.made.first_iteration, 2U);
  EXPECT_EQ(found.made.last_iteration, 5U);
  EXPECT_EQ(found.made.range_source, RangeSource::found);
  EXPECT_EQ(found.op("/op").gpu, stats(4, 20, 5, 5));
  EXPECT_DOUBLE_EQ(found.made.summary.mean_iteration_ns, 100);
  EXPECT_DOUBLE_EQ(found.made.summary.median_iteration_ns, 100);
  EXPECT_NEAR(found.made.summary.iteration_deviation_ns, std::sqrt(200.0 / 3), 1e-9);
  EXPECT_EQ(found.made.summary.before, (LeftOut{2, 5'070, 4'000}));
  EXPECT_EQ(found.made.summary.after, (LeftOut{1, 700, 0}));

  const Folded all(steps_after_warm_up(), {0, {}});
  EXPECT_EQ(all.made.range_source, RangeSource::asked);
  EXPECT_EQ(all.made.last_iteration, 6U);
  EXPECT_EQ(all.made.steady, found.made.steady);
  EXPECT_EQ(all.op("/op").gpu, stats(7, 4'020, 0, 4'000));
  EXPECT_EQ(all.made.summary.before, LeftOut());
  const Folded until(steps_after_warm_up(), {{}, 2});
  EXPECT_EQ(until.made.first_iteration, 0U);
  EXPECT_EQ(until.made.summary.after.iterations, 4U);
}

TEST(AggregateTest, IterationsThatThereAreNotAreUsageErrors) {
  const auto error_of = [](const IterationRange& range) -> std::string {
    try {
      const Folded folded(three_steps(), range);
    } catch (const UsageError& error) {
      return error.message();
    }
    return "no error";
  };
  EXPECT_THAT(error_of({4, {}}),
              testing::AllOf(testing::StartsWith("--iter_start: there is no iteration 4"), HasSubstr("0 to 3")));
  EXPECT_THAT(error_of({{}, 7}), testing::StartsWith("--iter_stop: there is no iteration 7"));
  EXPECT_THAT(error_of({2, 1}), HasSubstr("--iter_start 2 is after --iter_stop 1"));
}

TEST(AggregateTest, WorkOfARangeThatBeganBeforeCountsOnce) {
  TimelineBuilder builder;
  for (const std::int64_t start : {0, 100}) builder.range(kKeyNode, start, start + 10);
  builder.range("long", 50, 200, builder.thread());
  builder.launch("k", 60, 61, 65, 1).launch("k", 150, 160, 170, 1);
  const Folded first(builder, {1, 1});
  const Folded second(builder, {2, 2});
  EXPECT_EQ(first.op("/long").gpu, stats(1, 4, 4, 4));
  EXPECT_EQ(first.op("/long").cpu.n, 1U);
  EXPECT_EQ(second.op("/long").gpu, stats(1, 10, 10, 10));
  EXPECT_EQ(second.op("/long").cpu.n, 0U);
}

TEST(AggregateTest, RowsAreSorted) {
  TimelineBuilder builder;
  builder.range("little", 0, 10).range("much", 20, 30).range("long", 40, 60).range("short", 70, 75);
  builder.launch("a", 1, 100, 110).launch("b", 21, 110, 150);
  const Folded folded(builder);
  std::vector<std::string> names;
  for (const OpRow& row : folded.made.ops) names.push_back(folded.fold.ops[row.op].name);
  EXPECT_THAT(names, ElementsAre("/much", "/little", "/long", "/short"));
  EXPECT_EQ(folded.timeline.kernels[folded.made.kernels[0].kernel].name, "b");
  EXPECT_EQ(folded.made.types[0].type, "much");
}

TEST(AggregateTest, ACallOfManyKernelsCountsOnce) {
  TimelineBuilder builder;
  builder.range("op", 0, 50);
  const std::uint32_t graph = builder.call("cuGraphLaunch", 10, 30);
  builder.activity(graph, "a", 40, 50).activity(graph, "b", 50, 60).activity(graph, "a", 60, 70);
  const Folded folded(builder);
  std::int64_t api = 0;
  for (const KernelRow& row : folded.made.kernels) api += row.api.total;
  EXPECT_EQ(api, 20);
  EXPECT_EQ(folded.made.kernels[0].gpu, stats(2, 20, 10, 10));
}

TEST(AggregateTest, OpsThatLaunchNothingAreNotCountedNorIsNestedTime) {
  TimelineBuilder builder;
  const std::uint32_t other = builder.thread();
  builder.range("wrapper", 0, 1'000).range("aten::conv2d, seq = 1", 10, 500).range("aten::convolution, seq = 1", 20, 400);
  builder.range("inner", 30, 100).launch("a", 40, 41, 51).launch("b", 150, 151, 161);
  builder.range("elsewhere", 50, 350, other).launch("c", 60, 61, 66, other);
  const Summary summary = Folded(builder).made.summary;
  EXPECT_EQ(summary.all_ops.count, 3U);
  EXPECT_EQ(summary.all_ops.cpu_ns, 380 + 300) << "inner lies in aten::convolution; another thread counts by itself";
  EXPECT_EQ(summary.all_ops.gpu_ns, 25);
  EXPECT_EQ(summary.eligible_without_tc.count, 1U) << "aten::conv2d launches nothing";
  EXPECT_EQ(summary.eligible_without_tc.cpu_ns, 380);
}

TEST(AggregateTest, KernelsWithoutACallOfTheirOwnHaveNoCpuTime) {
  TimelineBuilder builder;
  const std::uint32_t graph = builder.call("cuGraphLaunch", 10, 30);
  builder.activity(graph, "a", 40, 50).activity(graph, kGemm, 50, 60);
  Timeline timeline = builder.build();
  for (Activity& activity : timeline.activities) activity.in_graph = true;
  const Fold folded = fold(timeline);
  const Summary summary = aggregate(timeline, folded).summary;
  EXPECT_EQ(summary.all_kernels.cpu_ns, 20);
  EXPECT_EQ(summary.other_kernels.cpu_ns, 20);
  EXPECT_EQ(summary.tc_kernels.count, 1U);
  EXPECT_FALSE(summary.tc_kernels.cpu_ns);
  EXPECT_EQ(summary.memory.cpu_ns, 0) << "there are none";
  EXPECT_EQ(summary.graph_gpu_ns, 20);
}

TEST(AggregateTest, ALaunchWithoutTimeIsNoZero) {
  TimelineBuilder builder;
  builder.range("op", 0, 50).launch("k", 10, 0, 0).launch("k", 20, 60, 65).launch("never", 30, 0, 0);
  const Folded folded(builder);
  ASSERT_EQ(folded.made.kernels.size(), 2U);
  EXPECT_EQ(folded.made.kernels[0].gpu, stats(1, 5, 5, 5));
  EXPECT_EQ(folded.made.kernels[0].api, stats(2, 4, 2, 2));
  EXPECT_EQ(folded.made.kernels[1].gpu, Stats());
}

TEST(TensorCoreUseTest, CountersDecideBeforeNames) {
  TimelineBuilder builder;
  builder.launch(kGemm, 0, 10, 20).launch("plain", 5, 30, 40).launch("counted", 8, 50, 60);
  builder.launch(kGemm, 12, 70, 80, 0, 0);
  builder.measured("counted", kTensorMetric, {0.0, 3.5}).measured("plain", "dram__bytes.sum", {1});
  const Timeline timeline = builder.build();
  const auto use = [&](const std::string& name) {
    const auto activity = std::find_if(timeline.activities.begin(), timeline.activities.end(),
                                       [&](const Activity& one) { return timeline.kernels[one.kernel].name == name; });
    return TensorCoreTable(timeline).of(activity->kernel, activity->config);
  };
  EXPECT_TRUE(use(kGemm).uses);
  EXPECT_EQ(use(kGemm).source, TensorCoreSource::name);
  EXPECT_FALSE(use("plain").uses);
  EXPECT_EQ(use("plain").source, TensorCoreSource::name);
  EXPECT_TRUE(use("counted").uses);
  EXPECT_EQ(use("counted").source, TensorCoreSource::counter);

  builder.measured(kGemm, "sm__inst_executed_pipe_tensor.sum", {0});
  const Timeline measured = builder.build();
  EXPECT_FALSE(TensorCoreTable(measured).of(0, 0).uses) << "measured to be idle";
  EXPECT_EQ(TensorCoreTable(measured).of(0, 0).source, TensorCoreSource::counter);
}

TEST(TensorCoreUseTest, AFewCyclesAWarpAreNoUse) {
  // 10,000 blocks of 8 warps on 132 multiprocessors: 1 % of 1,000,000 cycles of each is 16.5 cycles a warp, 4 % is 66.
  const auto uses = [](double percent) {
    TimelineBuilder builder;
    builder.launch("k", 0, 10, 20).measured("k", "sm__cycles_active.avg", {1e6});
    builder.measured("k", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", {percent});
    Timeline timeline = builder.build();
    timeline.devices.at(0).record.sm_count = 132;
    timeline.configs.at(0).key.grid = {10000, 1, 1};
    timeline.configs.at(0).key.block = {256, 1, 1};
    const TensorCoreUse use = TensorCoreTable(timeline).of(0, 0);
    EXPECT_EQ(use.source, TensorCoreSource::counter);
    return use.uses;
  };
  EXPECT_FALSE(uses(1));
  EXPECT_TRUE(uses(4));
}

TEST(TensorCoreUseTest, TracesOfActivityAreNone) {
  TimelineBuilder builder;
  builder.launch("ffma", 0, 10, 20).launch("small", 5, 30, 40).launch(kGemm, 8, 50, 60).launch("quick", 12, 70, 80);
  builder.measured("ffma", kTensorMetric, {0.0, 0.25}).measured("small", kTensorMetric, {0.1, 0.5});
  builder.measured(kGemm, "sm__inst_executed_pipe_tensor.sum", {7});
  builder.measured("quick", "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_active", {30});
  const Timeline timeline = builder.build();
  const auto use = [&](std::uint32_t activity) {
    return TensorCoreTable(timeline).of(timeline.activities[activity].kernel, timeline.activities[activity].config);
  };
  EXPECT_FALSE(use(0).uses);
  EXPECT_EQ(use(0).source, TensorCoreSource::counter);
  EXPECT_TRUE(use(1).uses) << "of any launch";
  EXPECT_EQ(use(2).source, TensorCoreSource::name) << "how much a count is, it does not say";
  EXPECT_TRUE(use(3).uses);
  EXPECT_EQ(use(3).source, TensorCoreSource::counter);
}

TEST(TensorCoreUseTest, WithoutNameAndCounterItIsUnknown) {
  TimelineBuilder builder;
  builder.launch("", 0, 10, 20);
  builder.launch("k", 0, 10, 20).measured("k", kTensorMetric, {std::numeric_limits<double>::quiet_NaN()});
  const Timeline timeline = builder.build();
  EXPECT_EQ(TensorCoreTable(timeline).of(0, kNone).source, TensorCoreSource::unknown);
  EXPECT_EQ(TensorCoreTable(timeline).of(1, 1).source, TensorCoreSource::name) << "no value came";
}

TEST(TensorCoreUseTest, OpsListTheKernelsThatUseThem) {
  TimelineBuilder builder;
  builder.range("aten::mm, op_id = 1", 0, 50).range("aten::relu, op_id = 2", 60, 80).range("aten::bmm, op_id = 3", 90, 100);
  builder.launch(kGemm, 1, 100, 130).launch("reduce", 5, 130, 140).launch(kGemm, 9, 140, 160).launch("relu", 62, 160, 165);
  builder.launch("naive", 91, 170, 180);
  builder.launch("[CUDA memcpy HtoD]", 70, 165, 166);
  const Folded folded(builder);
  const OpRow& mm = folded.op("/aten::mm");
  EXPECT_TRUE(mm.uses_tc);
  EXPECT_EQ(mm.tc_source, TensorCoreSource::name);
  EXPECT_EQ(mm.tc_gpu_ns, 50);
  EXPECT_EQ(mm.gpu.total, 60);
  EXPECT_THAT(mm.tc_kernels, ElementsAre(0));
  EXPECT_THAT(mm.others, ElementsAre(1));
  EXPECT_FALSE(folded.op("/aten::relu").uses_tc);
  EXPECT_THAT(folded.op("/aten::relu").others, testing::SizeIs(2));

  const Summary& summary = folded.made.summary;
  EXPECT_NEAR(*summary.tc_utilization, 100.0 * 50 / 70, 1e-9);
  EXPECT_EQ(summary.tc_ops.count, 1U);
  EXPECT_EQ(summary.eligible_without_tc.count, 1U);
  EXPECT_EQ(summary.other_ops.count, 1U);
  EXPECT_EQ(summary.all_ops.gpu_ns, 76);
  EXPECT_EQ(summary.all_kernels.count, 5U);
  EXPECT_EQ(summary.tc_kernels.gpu_ns, 50);
  EXPECT_EQ(summary.tc_kernels.cpu_ns, 4);
  EXPECT_EQ(summary.memory.gpu_ns, 1);
  EXPECT_EQ(summary.other_kernels.count, 3U);
}

TEST(AggregateCountersTest, RatiosAreWeightedByTimeAndCountsAreSums) {
  TimelineBuilder builder;
  builder.range("op", 0, 50);
  builder.launch("a", 1, 100, 130).launch("a", 5, 140, 170).launch("b", 9, 200, 240).launch("unmeasured", 12, 300, 400);
  builder.measured("a", "sm__throughput.avg.pct_of_peak_sustained_elapsed", {40, 60}).measured("a", "dram__bytes.sum", {10});
  builder.measured("b", "sm__throughput.avg.pct_of_peak_sustained_elapsed", {80}).measured("b", "dram__bytes.sum", {5, 7});
  builder.measured("b", "dram__bytes.sum.per_second", {3})
      .measured("b", "nothing.sum", {std::numeric_limits<double>::quiet_NaN()});
  const Folded folded(builder);
  const Counters& counters = folded.op("/op").counters;
  ASSERT_EQ(counters.values.size(), 3U);
  EXPECT_NEAR(counters.values.at("sm__throughput.avg.pct_of_peak_sustained_elapsed"), (50 * 60 + 80 * 40) / 100.0, 1e-9);
  EXPECT_NEAR(counters.values.at("dram__bytes.sum"), 2 * 10 + 1 * 6, 1e-9);
  EXPECT_NEAR(counters.values.at("dram__bytes.sum.per_second"), 3, 1e-9);
  EXPECT_EQ(counters.samples, 4U);
  EXPECT_EQ(counters.covered_ns, 100);
  EXPECT_EQ(folded.type("op").counters.values, counters.values);
  for (const KernelRow& row : folded.made.kernels) {
    EXPECT_EQ(row.counters.values.empty(), folded.timeline.kernels[row.kernel].name == "unmeasured");
  }
}

TEST(AggregateCountersTest, WhereNothingWasTimedLaunchesAreTheWeight) {
  TimelineBuilder builder;
  builder.range("op", 1, 50);
  builder.launch("a", 2, 0, 0).launch("a", 5, 0, 0).launch("a", 8, 0, 0).launch("b", 12, 0, 0);
  builder.measured("a", "x.avg", {10}).measured("b", "x.avg", {50});
  EXPECT_NEAR(Folded(builder).op("/op").counters.values.at("x.avg"), 20, 1e-9);
}

TEST(AggregateGroupsTest, FlattenTheirSubTreePerIteration) {
  TimelineBuilder builder;
  const std::uint32_t engine = builder.thread();
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t t = 1'000 * i;
    builder.range("net", t, t + 100)
        .range("aten::mm, seq = " + std::to_string(i), t + 10, t + 60)
        .launch(kGemm, t + 20, t + 200, t + 230);
    builder.range("MmBackward0, seq = " + std::to_string(i), t + 80, t + 150, engine);
    builder.launch("k", t + 90, t + 220, t + 240, engine).launch("k", t + 94, t + 250, t + 260, engine);
    builder.range(kKeyNode, t + 500, t + 510);
  }
  const Folded folded(builder, {0, {}});
  const GroupRow& net = folded.group("/net");
  EXPECT_EQ(net.cpu, stats(2, 300, 150, 150)) << "both threads, the overlap once";
  EXPECT_EQ(net.gpu, stats(2, 100, 50, 50));
  EXPECT_EQ(net.idle, stats(2, 20, 10, 10));
  EXPECT_EQ(net.overhead, stats(2, 2 * (150 - 6), 144, 144));
  EXPECT_EQ(net.leaf_instances, 4U);
  EXPECT_EQ(net.eligible_leaves, 2U);
  EXPECT_EQ(net.tc_leaves, 1U);
  EXPECT_EQ(folded.made.groups.size(), 1U);
  EXPECT_EQ(Folded(builder, {0, 0}).group("/net").cpu, stats(1, 150, 150, 150));
  EXPECT_TRUE(Folded(builder, {2, 2}).made.groups.empty());
}

TEST(AggregateGroupsTest, HoldRangesThatOutliveTheOneAroundThem) {
  TimelineBuilder builder;
  const TimelineBuilder::InDomain start_end{"", capture::RangeKind::start_end};
  builder.range("a", 0, 50, 0, start_end).range("b", 30, 100, 0, start_end);
  EXPECT_EQ(Folded(builder).group("/a").cpu, stats(1, 100, 100, 100));
}

TEST(AggregateSharesTest, EachLeavesOutThoseBefore) {
  TimelineBuilder builder;
  builder.device();  // idle
  builder.range("first", 0, 1).range("last", 999, 1000);
  builder.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 300, 700);
  builder.launch(kGemm, 50, 100, 200).launch("plain", 52, 150, 250).launch("[CUDA memcpy HtoD]", 54, 240, 310);
  builder.call("cuCtxSynchronize", 650, 800);
  const Folded folded(builder);
  const Duration& share = folded.made.summary.share;
  EXPECT_EQ(folded.made.summary.wall_ns, 1000);
  EXPECT_NEAR(share.tc, 10.0 / 2, 1e-9);
  EXPECT_NEAR(share.non_tc, 5.0 / 2, 1e-9);
  EXPECT_NEAR(share.memory, 6.0 / 2, 1e-9);
  EXPECT_NEAR(share.gpu, 21.0 / 2, 1e-9);
  EXPECT_NEAR(share.dataloader, (39.0 + 40.0) / 2, 1e-9);
  EXPECT_DOUBLE_EQ(share.io, 0);
  EXPECT_NEAR(share.cpu, 10 + 0.8, 1e-9) << "to 800, three calls of 2 ns and two ranges of 1";
  EXPECT_NEAR(share.tc + share.non_tc + share.memory + share.dataloader + share.io + share.cpu + share.other, 100, 1e-9);
}

TEST(AggregateSummaryTest, IterationTimes) {
  const Folded folded(three_steps(), {0, {}});
  const Summary& summary = folded.made.summary;
  EXPECT_EQ(summary.total_iterations, 4U);
  EXPECT_EQ(summary.wall_ns, 270);
  EXPECT_DOUBLE_EQ(summary.mean_iteration_ns, 67.5);  // 70, 100, 100 and 0
  EXPECT_NEAR(summary.iteration_deviation_ns, 47.16990566, 1e-6);
}

}  // namespace
}  // namespace dlkprof::model::aggregate_test
