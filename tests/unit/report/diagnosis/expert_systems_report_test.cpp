#include "report/diagnosis/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/diagnosed_run.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using test::cell;
using test::TimelineBuilder;

// Ten short kernels on a small grid, with nothing in between.
test::DiagnosedRun slow_run(const std::string& kernel) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) builder.launch(kernel, 100 * i, 100 * i + 4, 100 * i + 14);
  test::DiagnosedRun run(builder);
  run.launched(kernel, {1, 1, 1}, {32, 1, 1}).fact("anomaly_mode", "true");
  return run;
}

TEST(ExpertSystemsReport, BeginsWithTheGuidesColumns) {
  test::DiagnosedRun run = slow_run("k");
  const Table table = to_table(expert_systems_report(run.profile()));
  ASSERT_GE(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[0].name, "Problem");
  EXPECT_EQ(table.columns[1].name, "Recommendation");
  ASSERT_GE(table.rows.size(), 3U);
  EXPECT_EQ(cell(table, 0, "Rule"), Cell{"launch_bound"});
  EXPECT_NEAR(std::get<double>(cell(table, 0, "Time At Stake (%)")), 100 * 810.0 / 914, 0.2);
  EXPECT_DOUBLE_EQ(std::get<double>(cell(table, 0, "Time At Stake (ns/iteration)")), 810.0 / 11)
      << "nine times 90 ns; each launch begins an iteration";
  EXPECT_EQ(cell(table, table.rows.size() - 1, "Time At Stake (ns/iteration)"), Cell{});
}

TEST(ExpertSystemsReport, NamesOpAndKernelInFull) {
  const std::string kernel = "sm90_xmma_wgrad_" + std::string(200, 'x');
  TimelineBuilder builder;
  builder.range("aten::mm, op_id = 1", 0, 50).launch(kernel, 1, 100, 1100);
  test::DiagnosedRun run(builder);
  run.launched(kernel, {1, 1, 1}, {32, 1, 1});
  const Table table = to_table(expert_systems_report(run.profile()));
  const auto row =
      std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& cells) { return cells[3] == Cell{kernel}; });
  ASSERT_NE(row, table.rows.end());
  const auto number = static_cast<std::size_t>(row - table.rows.begin());
  EXPECT_EQ(cell(table, number, "Op ID"), Cell{run.profile().fold.ops[0].id});
  EXPECT_EQ(cell(table, number, "Op Name"), Cell{run.profile().fold.ops[0].name});
}

TEST(ExpertSystemsReport, IsEmptyWhereNothingIsWrong) {
  test::DiagnosedRun run{TimelineBuilder()};
  EXPECT_EQ(expert_systems_report(run.profile()).count, 0U);
}

}  // namespace
}  // namespace dlkprof::report
