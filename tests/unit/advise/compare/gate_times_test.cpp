#include "advise/compare/gate_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlkprof::advise::gate_times_test {
namespace {

using testing::DoubleNear;
using testing::Optional;

RunFigures run_with_calls(double median, double utilization = 0.5) {
  RunFigures run;
  run.has_iterations = true;
  run.kernels.median = 10;
  run.launch_calls["cuLaunchKernel"] = {.n = 100, .median = median};
  run.utilization = Spread{.n = 9, .median = utilization};
  return run;
}

TEST(GateTimesTest, TheCpuIsComparedByTheSameCalls) {
  RunFigures base = run_with_calls(1000), other = run_with_calls(1200);
  EXPECT_THAT(cpu_ratio(base, other), Optional(DoubleNear(1.2, 1e-9)));
  base.launch_calls["cuLaunchKernelEx"] = {.n = 300, .median = 1000};  // the other run has none
  EXPECT_THAT(cpu_ratio(base, other), Optional(DoubleNear(1.2, 1e-9)));
  other.launch_calls["cuLaunchKernelEx"] = {.n = 300, .median = 2000};
  EXPECT_THAT(cpu_ratio(base, other), Optional(DoubleNear(1.8, 1e-9)));
}

TEST(GateTimesTest, CallsThatAGpuHoldsUpTellNothing) {
  EXPECT_EQ(cpu_ratio(run_with_calls(1000), run_with_calls(1200, 0.95)), std::nullopt);
  EXPECT_EQ(cpu_ratio(run_with_calls(1000, 0.95), run_with_calls(1200)), std::nullopt);
}

TEST(GateTimesTest, LaunchesOfOtherGraphsTellNothing) {
  RunFigures base = run_with_calls(1000), other = run_with_calls(1000);
  base.launch_calls = {{"cuGraphLaunch", {.n = 20, .median = 1e4}}};
  other.launch_calls = {{"cuGraphLaunch", {.n = 20, .median = 2e4}}};
  EXPECT_THAT(cpu_ratio(base, other), Optional(DoubleNear(2, 1e-9)));
  other.kernels.median = 20;
  EXPECT_EQ(cpu_ratio(base, other), std::nullopt);
}

TEST(GateTimesTest, IterationsThatAreNotWhollyTimedDoNotCount) {
  RunFigures base = run_with_calls(1000), other = run_with_calls(1000);
  base.gpu_ns = other.gpu_ns = {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 0};
  base.part_timed = {8};
  std::vector<TimePair> pairs{gpu_pair(base, other)};
  test_times(pairs, 5);
  EXPECT_EQ(pairs.front().base.size(), 8U);
  EXPECT_EQ(pairs.front().other.size(), 9U);
  EXPECT_DOUBLE_EQ(pairs.front().base_spread.lower, 1e6);
  base.part_timed = {0, 8};
  pairs = {gpu_pair(base, other)};
  test_times(pairs, 5);
  EXPECT_EQ(pairs.front().p_beyond, std::nullopt);
}

// 10 launches may differ by the root of 10 times as much as one, and 1 %.
TEST(GateTimesTest, RunsOfOneProgramMayDiffer) {
  const RunFigures base = run_with_calls(1000), other = run_with_calls(1000);
  EXPECT_NEAR(allowed_ns(gpu_pair(base, other), 1e6, 0), 1.01e6 + 3795, 1);
  EXPECT_NEAR(allowed_ns(gpu_pair(base, other), 1e6, 5), 1.0605e6 + 3795, 1);
  EXPECT_DOUBLE_EQ(allowed_ns(iteration_pair(base, run_with_calls(1100)), 1e6, 0), 1.1e6);
  EXPECT_DOUBLE_EQ(allowed_ns(iteration_pair(base, run_with_calls(900)), 1e6, 0), 1e6);
}

}  // namespace
}  // namespace dlkprof::advise::gate_times_test
