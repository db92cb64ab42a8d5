#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/table_cells.h"

namespace dlkprof::report::coverage_report_test {
namespace {

model::LaunchCounts line(std::uint32_t config, std::uint64_t matched, std::uint64_t measured, std::uint64_t gpu_ns) {
  model::LaunchCounts counts;
  counts.config = config;
  counts.kernel = config == model::kNone ? model::kNone : 0;
  counts.launches = 10;
  counts.matched = matched;
  counts.measured = measured;
  counts.timed = gpu_ns == 0 ? 0 : 5;
  counts.timed_gpu_ns = gpu_ns;
  return counts;
}

TEST(CoverageReport, SaysWhyConfigurationsAreIncomplete) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120));
  run.timeline().counts = {line(model::kNone, 0, 0, 0), line(0, 10, 1, 300), line(0, 10, 0, 100)};
  run.timeline().counts[2].skipped = 10;
  run.timeline().counts[2].reason = capture::SkipReason::collective;
  const auto profile = run.profile();
  const Table table = to_table(coverage_report(profile));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(test::cell(table, 0, "Kernel Name"), Cell{"k"});
  EXPECT_EQ(test::cell(table, 0, "Measured"), Cell{std::uint64_t{1}});
  EXPECT_EQ(test::cell(table, 0, "Timed GPU Time (ns)"), Cell{std::uint64_t{300}});
  EXPECT_EQ(test::cell(table, 0, "Timed GPU Time (%)"), Cell{75.0});
  EXPECT_EQ(test::cell(table, 0, "Incomplete Because"), Cell{});
  EXPECT_EQ(test::cell(table, 1, "Incomplete Because"), Cell{std::string(model::incomplete_text(model::Incomplete::collective))});
  EXPECT_EQ(test::cell(table, 2, "Incomplete Because"), Cell{"the selector does not take it"});
  EXPECT_EQ(test::cell(table, 2, "Grid Size"), Cell{}) << "its configurations are not told apart";
  EXPECT_EQ(test::cell(table, 2, "Timed GPU Time (ns)"), Cell{}) << "none was timed";
}

}  // namespace
}  // namespace dlkprof::report::coverage_report_test
