#include "advise/occupancy_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/diagnosed_run.h"

namespace dlkprof::advise {
namespace {

using test::TimelineBuilder;
using testing::HasSubstr;

constexpr const char* kAchieved = "sm__warps_active.avg.pct_of_peak_sustained_active";

// One kernel on an H200: 132 multiprocessors of 64 warps, 65,536 registers and 228 KB of shared memory each; 1 KB of it goes to
// the driver for each block. (CUDA C++ Programming Guide, technical specifications of compute capability 9.0.)
struct OneKernel {
  OneKernel(const capture::Dim3& grid, const capture::Dim3& block, std::uint32_t registers, std::uint32_t shared_bytes = 0)
      : run(TimelineBuilder().launch("k", 10, 20, 30)) {
    run.launched("k", grid, block, registers, shared_bytes);
    use = config_uses(run.profile()).at(0);
  }
  OccupancyAdvice advice() { return advise_occupancy(run.timeline(), use); }
  OccupancyGap gap(double achieved) {
    use.values[kAchieved] = achieved;
    return advice().gap;
  }
  std::string why() { return gap_text(advice(), use); }

  test::DiagnosedRun run;
  ConfigUse use;
};

TEST(OccupancyAdvice, NamesTheRegistersToTheNextBlock) {
  // 42 registers: 32 threads take 42 * 32 = 1,344, allocated as 1,536; a quarter of the multiprocessor's 65,536 holds
  // 16,384 / 1,536 = 10 warps, all of it 40, or 5 blocks of 8 warps: 62.5 %. A sixth block needs 48 warps, 12 a quarter:
  // 16,384 / 12 = 1,365 registers a warp, of which 1,280 are whole units: 40 a thread. 48 of 64 warps are 75 %.
  OneKernel kernel({10000, 1, 1}, {256, 1, 1}, 42);
  const OccupancyAdvice advice = kernel.advice();
  ASSERT_TRUE(advice.theoretical);
  EXPECT_EQ(advice.theoretical->percent, 62.5);
  ASSERT_TRUE(advice.step);
  EXPECT_EQ(advice.step->registers_fewer, 2U);
  EXPECT_EQ(advice.step->shared_bytes_fewer, 0U);
  EXPECT_EQ(advice.step->percent, 75);
  EXPECT_EQ(step_text(advice), "2 registers fewer a thread: 62.5 % -> 75 %");
}

TEST(OccupancyAdvice, NamesTheSharedMemoryToTheNextBlock) {
  // 40 KB and the driver's 1 KB: 228 / 41 = 5 blocks of 4 warps, 20 of 64: 31.25 %. Six blocks have 38 KB each, of which the
  // driver takes 1: 37 KB, 3 KB less than now.
  OneKernel kernel({10000, 1, 1}, {128, 1, 1}, 32, 40 << 10);
  const OccupancyAdvice advice = kernel.advice();
  ASSERT_TRUE(advice.step);
  EXPECT_EQ(advice.theoretical->percent, 31.25);
  EXPECT_EQ(advice.step->shared_bytes_fewer, 3072U);
  EXPECT_EQ(advice.step->registers_fewer, 0U);
  EXPECT_EQ(advice.step->percent, 37.5);
  EXPECT_EQ(step_text(advice), "3072 bytes less shared memory a block: 31.25 % -> 37.5 %");
}

TEST(OccupancyAdvice, ChangesBothWhereBothStandAgainstIt) {
  // 255 registers, allocated as 256: 8,192 a warp, 2 warps a quarter, 8 in all: 2 blocks of 4. 110 KB + 1 KB: 228 / 111 = 2.
  OneKernel kernel({10000, 1, 1}, {128, 1, 1}, 255, 110 << 10);
  const OccupancyAdvice advice = kernel.advice();
  ASSERT_TRUE(advice.step);
  // A third block: 12 warps, 3 a quarter: 5,461 registers a warp, whole units 5,376: 168 a thread. 76 KB a block, less 1: 75.
  EXPECT_EQ(advice.step->registers_fewer, 255U - 168U);
  EXPECT_EQ(advice.step->shared_bytes_fewer, (110U - 75U) << 10U);
  EXPECT_EQ(advice.step->percent, 18.75);
  EXPECT_THAT(step_text(advice), HasSubstr("87 registers fewer a thread and 35840 bytes less"));
}

TEST(OccupancyAdvice, NothingIsToBeHadAtFullOccupancy) {
  OneKernel kernel({10000, 1, 1}, {256, 1, 1}, 32);
  EXPECT_EQ(kernel.advice().theoretical->percent, 100);
  EXPECT_FALSE(kernel.advice().step);
  EXPECT_EQ(step_text(kernel.advice()), "");
  EXPECT_EQ(kernel.advice().better_block_threads, 0U);
}

TEST(OccupancyAdvice, BlocksThatAreTooSmallNeedAnotherSize) {
  // 32 threads are one warp; 32 blocks a multiprocessor hold 32 of 64 warps. With 64 threads they hold all.
  OneKernel kernel({10000, 1, 1}, {32, 1, 1}, 16);
  const OccupancyAdvice advice = kernel.advice();
  EXPECT_EQ(advice.theoretical->percent, 50);
  EXPECT_FALSE(advice.step) << "no resource stands against it";
  EXPECT_EQ(advice.better_block_threads, 64U);
  EXPECT_EQ(advice.better_block_percent, 100);
}

TEST(OccupancyAdvice, SaysWhatTheGridAllows) {
  // 8 blocks of 256 threads a multiprocessor hold 132 * 8 = 1,056 blocks at once.
  OneKernel waves({1584, 1, 1}, {256, 1, 1}, 32);
  EXPECT_EQ(waves.advice().theoretical->waves, 1.5);
  EXPECT_EQ(waves.advice().tail_percent, 25) << "2 waves of time for 1.5 of work";
  EXPECT_EQ(waves.advice().idle_sms_percent, 0);
  EXPECT_EQ(waves.advice().grid_percent, 100);
  OneKernel small({33, 1, 1}, {256, 1, 1}, 32);
  EXPECT_EQ(small.advice().idle_sms_percent, 75) << "33 of 132 have a block";
  EXPECT_EQ(small.advice().grid_percent, 12.5) << "8 of 64 warps on those that have";
  EXPECT_FALSE(small.advice().tail_percent) << "a grid below one wave has no tail";
}

TEST(OccupancyAdvice, SaysWhyLessIsAchieved) {
  OneKernel small({33, 1, 1}, {256, 1, 1}, 32);
  EXPECT_EQ(small.gap(12), OccupancyGap::grid_too_small);
  EXPECT_EQ(small.why(), "grid too small: its 33 blocks allow 12.5 % at most");
  OneKernel tail({1584, 1, 1}, {256, 1, 1}, 32);
  EXPECT_EQ(tail.gap(95), OccupancyGap::none) << "within 10 points";
  EXPECT_EQ(tail.why(), "none");
  EXPECT_EQ(tail.gap(80), OccupancyGap::tail) << "which explains 25 of 20 points";
  EXPECT_THAT(tail.why(), HasSubstr("of 1.5 waves"));
  EXPECT_EQ(tail.gap(40), OccupancyGap::imbalance) << "which explains 25 of 60 points";
  EXPECT_EQ(tail.why(), "imbalance: 60 points that neither the grid nor the tail explain");
}

TEST(OccupancyAdvice, ALowOccupancyIsExplainedAlsoWhereItIsNearTheTheoreticalOne) {
  // 255 registers: 8 warps, 12.5 %.
  OneKernel kernel({10000, 1, 1}, {128, 1, 1}, 255);
  EXPECT_EQ(kernel.gap(12), OccupancyGap::none);
  EXPECT_EQ(kernel.why(), "none: it is near the theoretical one, which registers limit");
  kernel.use.values = {{"gpu__time_duration.sum", 50000}, {"sm__cycles_active.avg", 90}, {"gpc__cycles_elapsed.max", 1000}};
  EXPECT_EQ(kernel.gap(5), OccupancyGap::imbalance) << "7.5 points, but less than half of it";
  EXPECT_THAT(kernel.why(), HasSubstr("multiprocessors are active for 9 % of the cycles"));
}

TEST(OccupancyAdvice, ProposesNothingWhereTheGridIsTheLimit) {
  OneKernel small({20, 1, 1}, {256, 1, 1}, 42);
  EXPECT_FALSE(small.advice().step);
  EXPECT_THAT(step_text(small.advice()), HasSubstr("does not fill one wave"));
  EXPECT_EQ(small.advice().better_block_threads, 0U);
}

TEST(OccupancyAdvice, ProposesNothingForALibraryKernel) {
  OneKernel kernel({10000, 1, 1}, {256, 1, 1}, 42);
  kernel.run.timeline().kernels[0].long_name = "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_ffma_execute_kernel__5x_cudnn";
  EXPECT_FALSE(kernel.advice().step);
  EXPECT_THAT(step_text(kernel.advice()), HasSubstr("library kernel"));
}

TEST(OccupancyAdvice, AShortKernelIsItsBeginningAndEnd) {
  OneKernel kernel({1584, 1, 1}, {256, 1, 1}, 32);
  kernel.use.values = {{"gpu__time_duration.sum", 5000}, {"sm__cycles_active.avg", 600}, {"gpc__cycles_elapsed.max", 1000}};
  EXPECT_EQ(kernel.gap(40), OccupancyGap::short_kernel);
  EXPECT_EQ(kernel.why(), "short kernel: 5 us, in which multiprocessors were active for 60 % of the cycles");
  kernel.use.values["gpu__time_duration.sum"] = 50000;
  EXPECT_EQ(kernel.gap(40), OccupancyGap::imbalance);
}

TEST(OccupancyAdvice, WhatIsNotKnownIsNotSaid) {
  OneKernel kernel({33, 1, 1}, {256, 1, 1}, 32);
  EXPECT_EQ(kernel.advice().gap, OccupancyGap::unknown);
  EXPECT_EQ(kernel.why(), "");
  kernel.use.values[kAchieved] = 12;
  kernel.run.timeline().functions.clear();
  const OccupancyAdvice advice = kernel.advice();
  EXPECT_FALSE(advice.theoretical);
  EXPECT_EQ(advice.achieved, 12);
  EXPECT_FALSE(advice.idle_sms_percent);
  EXPECT_TRUE(occupancy_curve(kernel.run.timeline(), kernel.use, CurveOf::registers).empty());
}

TEST(OccupancyAdvice, HostileFiguresGiveNone) {
  OneKernel kernel({33, 1, 1}, {256, 1, 1}, 32);
  kernel.run.timeline().devices[0].record = {};
  EXPECT_FALSE(kernel.advice().theoretical);
  kernel.run.timeline().devices[0].record = test::h200();
  kernel.run.timeline().functions[0].record.registers_per_thread = std::numeric_limits<std::uint32_t>::max();
  EXPECT_FALSE(kernel.advice().theoretical);
  kernel.run.timeline().functions[0].record.registers_per_thread = 32;
  const std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  kernel.run.timeline().configs[0].key.grid = {most, most, most};
  EXPECT_EQ(kernel.advice().blocks, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(kernel.advice().idle_sms_percent, 0);
}

double at(const std::vector<CurvePoint>& curve, std::uint64_t x) {
  const auto found = std::find_if(curve.begin(), curve.end(), [x](const CurvePoint& point) { return point.x == x; });
  return found == curve.end() ? -1 : found->percent;
}

TEST(OccupancyCurves, GoThroughTheLaunchItself) {
  OneKernel kernel({1000, 1, 1}, {256, 1, 1}, 64, 40 << 10);
  const double now = kernel.advice().theoretical->percent;
  EXPECT_EQ(at(occupancy_curve(kernel.run.timeline(), kernel.use, CurveOf::block_size), 256), now);
  EXPECT_EQ(at(occupancy_curve(kernel.run.timeline(), kernel.use, CurveOf::registers), 64), now);
  EXPECT_EQ(at(occupancy_curve(kernel.run.timeline(), kernel.use, CurveOf::shared_memory), 40 << 10), now);
}

TEST(OccupancyCurves, FallWithRegistersAndSharedMemory) {
  OneKernel kernel({1000, 1, 1}, {128, 1, 1}, 32);
  for (const CurveOf what : {CurveOf::registers, CurveOf::shared_memory}) {
    const auto curve = occupancy_curve(kernel.run.timeline(), kernel.use, what);
    ASSERT_GT(curve.size(), 30U);
    EXPECT_TRUE(std::is_sorted(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.percent > b.percent; }));
    EXPECT_EQ(curve.front().percent, 100);
  }
  // 255 registers: 8 warps a multiprocessor. 227 KB: one block of 4.
  EXPECT_EQ(occupancy_curve(kernel.run.timeline(), kernel.use, CurveOf::registers).back().percent, 12.5);
  EXPECT_EQ(occupancy_curve(kernel.run.timeline(), kernel.use, CurveOf::shared_memory).back().percent, 6.25);
}

}  // namespace
}  // namespace dlkprof::advise
