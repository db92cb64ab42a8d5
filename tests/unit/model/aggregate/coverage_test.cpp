#include "model/aggregate/coverage.h"

#include <gtest/gtest.h>

namespace dlkprof::model::coverage_test {
namespace {

LaunchCounts counts(std::uint32_t process, std::uint64_t matched, std::uint64_t measured, std::uint64_t timed_gpu_ns) {
  LaunchCounts made;
  made.process = process;
  made.launches = 100;
  made.matched = matched;
  made.measured = measured;
  made.timed_gpu_ns = timed_gpu_ns;
  return made;
}

Activity activity(std::int64_t ns, std::uint32_t config) {
  Activity made;
  made.start_ns = 1000;
  made.end_ns = 1000 + ns;
  made.config = config;
  return made;
}

Timeline two_processes() {
  Timeline timeline;
  timeline.processes.resize(2);
  timeline.processes[0].graph_launches = 2;
  timeline.processes[0].timing_complete = true;
  timeline.counts = {counts(0, 10, 3, 70), counts(1, 0, 0, 30), counts(1, 10, 0, 0)};
  return timeline;
}

TEST(CoverageOf, AddsUpLinesAndProcesses) {
  const Timeline timeline = two_processes();
  const Coverage sum = coverage_of(timeline);
  EXPECT_EQ(sum.launches, 300U);
  EXPECT_EQ(sum.covered, 100U);
  EXPECT_EQ(sum.covered_gpu_ns, 70U);
  EXPECT_EQ(sum.unmatched_gpu_ns, 30U);
  EXPECT_EQ(sum.gpu_ns, 100U);
  EXPECT_EQ(sum.graph_launches, 2U);
  EXPECT_FALSE(sum.timing_complete) << "in one of the processes it is not";
  EXPECT_EQ(coverage_of(timeline, 1).launches, 200U);
  EXPECT_TRUE(coverage_of(timeline, 0).timing_complete);
}

TEST(CoverageOf, AllGpuTimeHasFourParts) {
  Timeline timeline = two_processes();
  timeline.configs = {{.process = 0}, {.process = 0}};
  timeline.measured[0]["m.sum"] = {1};
  timeline.activities = {activity(70, 0), activity(9, 0), activity(400, 0), activity(30, 1), activity(6, kNone)};
  timeline.activities[1].replayed = true;
  timeline.activities[2].in_graph = true;
  timeline.processes[0].graph_gpu_ns = 400;
  const Coverage sum = coverage_of(timeline);
  EXPECT_EQ(sum.gpu_ns, 515U);
  EXPECT_EQ(sum.measured_gpu_ns, 9U);
  EXPECT_EQ(sum.copy_gpu_ns, 6U);
  EXPECT_EQ(sum.timed_gpu_ns + sum.measured_gpu_ns + sum.graph_gpu_ns + sum.copy_gpu_ns, sum.gpu_ns);
  EXPECT_EQ(sum.covered_gpu_ns, 479U) << "also while it was measured, and in a graph";
}

}  // namespace
}  // namespace dlkprof::model::coverage_test
