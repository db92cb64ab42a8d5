#include "advise/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/diagnosed_run.h"

namespace dlkprof::advise {
namespace {

using test::kMemoryThroughput;
using test::kSmThroughput;
using test::TimelineBuilder;
using testing::HasSubstr;

model::Counters counters(double sm, double memory, std::int64_t covered_ns) {
  model::Counters made;
  made.values = {{kSmThroughput, sm}, {kMemoryThroughput, memory}};
  made.covered_ns = covered_ns;
  return made;
}

// Kept busy, on a grid that fills the GPU.
Evidence busy() {
  Evidence evidence;
  evidence.timed = 10;
  evidence.gpu_ns = evidence.grid_ns = 1000;
  evidence.filled_ns = 1000;
  return evidence;
}

TEST(Verdicts, GoByTheThroughputNearerToItsPeak) {
  const Judgement compute = judge(busy(), counters(75, 70, 1000));
  EXPECT_EQ(compute.verdict, Verdict::compute_bound);
  EXPECT_EQ(compute.bound_ns, 250) << "what is above 75 % of the time";
  const Judgement memory = judge(busy(), counters(20, 90, 500));
  EXPECT_EQ(memory.verdict, Verdict::memory_bound);
  EXPECT_EQ(memory.bound_ns, 50) << "of the 500 ns that were measured";
  EXPECT_THAT(reason_text(memory), HasSubstr("memory at 90 % of peak: near what there is"));
  EXPECT_EQ(judge(busy(), counters(60, 0, 1000)).verdict, Verdict::compute_bound);
}

TEST(Verdicts, BelowSixtyPercentOfBothLatencyHoldsBack) {
  const Judgement latency = judge(busy(), counters(59.9, 40, 1000));
  EXPECT_EQ(latency.verdict, Verdict::latency_bound);
  EXPECT_EQ(latency.bound_ns, 401) << "(1 - 0.599) * 1000";
  EXPECT_EQ(reason_text(latency), "compute at 59.9 %, memory at 40 % of peak: both below 60 %");
}

TEST(Verdicts, AGridThatLeavesMultiprocessorsEmptyIsTooSmall) {
  Evidence small = busy();
  small.filled_ns = 250;  // a quarter of the multiprocessors
  const Judgement judged = judge(small, counters(10, 10, 1000));
  EXPECT_EQ(judged.verdict, Verdict::too_small);
  EXPECT_EQ(judged.bound_ns, 750);
  EXPECT_EQ(reason_text(judged), "its grids have blocks for 25 % of the multiprocessors");
  small.filled_ns = 600;
  EXPECT_EQ(judge(small, counters(10, 10, 1000)).verdict, Verdict::latency_bound);
}

TEST(Verdicts, WhatTheGpuWaitsForIsLaunchBound) {
  Evidence starved = busy();
  starved.waited_for = 5;
  starved.idle_before_ns = 5000;
  const Judgement judged = judge(starved, counters(90, 10, 1000));
  EXPECT_EQ(judged.verdict, Verdict::launch_bound);
  EXPECT_EQ(judged.bound_ns, 5000);
  EXPECT_THAT(reason_text(judged), HasSubstr("before 50 % of its launches"));
  Evidence beginning = starved;
  beginning.timed = beginning.waited_for = 2;
  EXPECT_NE(judge(beginning, counters(90, 10, 1000)).verdict, Verdict::launch_bound) << "two launches are no rule";
  starved.waited_for = 4;
  EXPECT_EQ(judge(starved, counters(90, 10, 1000)).verdict, Verdict::compute_bound);
}

TEST(Verdicts, ClocksTooFarApartSayNothingOfLaunches) {
  Evidence evidence{.timed = 10, .gpu_ns = 100, .waited_for = 9, .idle_before_ns = 900};
  ASSERT_EQ(judge(evidence, {}).verdict, Verdict::launch_bound);
  evidence.clocks_apart_ns = 93'805'419;
  const Judgement judgement = judge(evidence, {});
  EXPECT_EQ(judgement.verdict, Verdict::unknown);
  EXPECT_FALSE(judgement.bound_ns);
  EXPECT_FALSE(judgement.waited_percent);
  EXPECT_THAT(reason_text(judgement), HasSubstr("may be 93.8 ms apart"));
}

TEST(Verdicts, WithoutCountersThereIsNone) {
  const Judgement judged = judge(busy(), {});
  EXPECT_EQ(judged.verdict, Verdict::unknown);
  EXPECT_FALSE(judged.bound_ns);
  EXPECT_STREQ(verdict_text(judged.verdict), "");
  EXPECT_EQ(reason_text(judged), "");
  const Judgement nothing = judge({}, {});
  EXPECT_FALSE(nothing.waited_percent || nothing.filled_percent || nothing.bound_ns);
}

TEST(Evidence, ALaunchIsWaitedForWhereTheGpuHadEndedAllBefore) {
  TimelineBuilder builder;
  builder.launch("first", 10, 20, 30);    // nothing before it
  builder.launch("queued", 25, 32, 40);   // called while the GPU was busy
  builder.launch("late", 100, 110, 120);  // called 60 ns after it had ended; idle for 70 ns, longer than its own 10
  builder.launch("long", 130, 140, 200);  // idle for 20 ns, shorter than its own 60
  test::DiagnosedRun run(builder);
  const model::Profile& profile = run.profile();
  const EvidenceTable table = gather_evidence(profile);
  ASSERT_EQ(table.kernels.size(), 4U);
  for (std::size_t i = 0; i < table.kernels.size(); ++i) {
    const std::string& name = profile.timeline.kernels[profile.aggregate.kernels[i].kernel].name;
    EXPECT_EQ(table.kernels[i].waited_for, name == "late" ? 1U : 0U) << name;
    EXPECT_EQ(table.kernels[i].idle_before_ns, name == "late" ? 70 : 0) << name;
    EXPECT_EQ(table.kernels[i].timed, 1U);
  }
}

TEST(Evidence, IterationsBeforeThoseAggregatedKeepTheGpuBusyToo) {
  TimelineBuilder builder;
  builder.launch("a", 10, 20, 300).range(test::kIterationEnd, 30, 40).launch("b", 50, 310, 320);
  test::DiagnosedRun run(builder);
  const EvidenceTable table = gather_evidence(run.profile({1, 1}));
  ASSERT_EQ(table.kernels.size(), 1U);
  EXPECT_EQ(table.kernels[0].waited_for, 0U);
}

TEST(Evidence, AgreesWithTheAggregate) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.range("op", 100 * i, 100 * i + 20).launch("k", 100 * i + 4, 100 * i + 30, 100 * i + 50);
  }
  test::DiagnosedRun run(builder);
  run.launched("k", {66, 1, 1}, {128, 1, 1});
  const model::Profile& profile = run.profile();
  const EvidenceTable table = gather_evidence(profile);
  for (std::size_t i = 0; i < table.ops.size(); ++i) EXPECT_EQ(table.ops[i].gpu_ns, profile.aggregate.ops[i].gpu.total);
  for (std::size_t i = 0; i < table.kernels.size(); ++i) {
    EXPECT_EQ(table.kernels[i].gpu_ns, profile.aggregate.kernels[i].gpu.total);
    EXPECT_EQ(table.kernels[i].filled_ns, 50) << "66 of 132 multiprocessors, 100 ns";
  }
}

TEST(Evidence, CollectivesHaveFewBlocksOnPurpose) {
  const char* const all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  TimelineBuilder builder;
  builder.launch(all_reduce, 10, 20, 300);
  test::DiagnosedRun run(builder);
  run.launched(all_reduce, {24, 1, 1}, {544, 1, 1});
  const EvidenceTable table = gather_evidence(run.profile());
  ASSERT_EQ(table.kernels.size(), 1U);
  EXPECT_EQ(table.kernels[0].gpu_ns, 280);
  EXPECT_EQ(table.kernels[0].grid_ns, 0);
}

}  // namespace
}  // namespace dlkprof::advise
