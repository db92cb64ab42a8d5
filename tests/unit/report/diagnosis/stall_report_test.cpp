#include "report/diagnosis/reports.h"

#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/pc_samples.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using test::cell;
using test::TimelineBuilder;

std::string stalled(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

TEST(StallReport, BreaksWarpCyclesDownAndExplainsTheTop) {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 120).measured("k", stalled("long_scoreboard"), {4}).measured("k", stalled("selected"), {2});
  builder.measured("k", stalled("wait"), {1}).measured("k", stalled("barrier"), {0.75}).measured("k", stalled("drain"), {0.25});
  test::DiagnosedRun run(builder);
  const Table table = to_table(stall_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 10U) << "five reasons of the op, and of its kernel";
  EXPECT_EQ(cell(table, 0, "Stall Reason"), Cell{"long_scoreboard"});
  EXPECT_EQ(cell(table, 0, "Cycles Per Issue"), Cell{4.0});
  EXPECT_EQ(cell(table, 0, "Share (%)"), Cell{50.0});
  EXPECT_EQ(cell(table, 0, "Meaning"), Cell{"Warps wait for data from global, local, texture or surface memory."});
  EXPECT_EQ(cell(table, 4, "Stall Reason"), Cell{"selected"}) << "last, as it is no wait";
  EXPECT_EQ(cell(table, 4, "Meaning"), Cell{});
  EXPECT_NE(cell(table, 2, "What Usually Helps"), Cell{}) << "the third wait";
  EXPECT_EQ(cell(table, 3, "Meaning"), Cell{}) << "the fourth";
  double all = 0;
  for (std::size_t row = 0; row < 5; ++row) all += std::get<double>(cell(table, row, "Share (%)"));
  EXPECT_DOUBLE_EQ(all, 100);
}

TEST(StallReport, KernelsThatWereNotMeasuredMayHaveBeenSampled) {
  TimelineBuilder builder;
  builder.range("op_a", 0, 50).range("op_b", 60, 128).launch("k", 10, 20, 120).launch("k", 70, 130, 150);
  builder.launch("other", 80, 160, 170).measured("other", stalled("wait"), {1});
  test::DiagnosedRun run(builder);
  run.timeline().pc_samples = test::small_pc_samples();
  const Table table = to_table(stall_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 5U) << "an op and its kernel that were measured, then three reasons of k; none of other";
  EXPECT_EQ(cell(table, 0, "Collected By"), Cell{"counters"});
  EXPECT_EQ(cell(table, 0, "PC Samples"), Cell{});
  EXPECT_EQ(cell(table, 2, "Level"), Cell{"kernel"});
  EXPECT_EQ(cell(table, 2, "Kernel Name"), Cell{"k"});
  EXPECT_EQ(cell(table, 2, "Op ID"), Cell{}) << "of all ops that launch it";
  EXPECT_EQ(cell(table, 2, "Total GPU Time (ns)"), Cell{std::int64_t{120}});
  EXPECT_EQ(cell(table, 2, "Stall Reason"), Cell{"long_scoreboard"});
  EXPECT_EQ(cell(table, 2, "Share (%)"), Cell{40.0});
  EXPECT_EQ(cell(table, 2, "Cycles Per Issue"), Cell{4.0 / 3});
  EXPECT_EQ(cell(table, 2, "Meaning"), Cell{"Warps wait for data from global, local, texture or surface memory."});
  EXPECT_EQ(cell(table, 2, "Collected By"), Cell{"PC sampling"});
  EXPECT_EQ(cell(table, 2, "PC Samples"), Cell{std::uint64_t{10}});
  EXPECT_EQ(cell(table, 2, "Sampling Period (cycles)"), Cell{"131072 to 262144"});
  EXPECT_EQ(cell(table, 2, "Samples Measured"), Cell{});
}

TEST(StallReport, WhatWasMeasuredForOtherThingsHasEmptyCells) {
  test::DiagnosedRun run(
      TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150).measured("k", "dram__bytes.sum", {4}));
  const Table table = to_table(stall_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 2U) << "and none for what was not measured at all";
  EXPECT_EQ(cell(table, 1, "Kernel Name"), Cell{"k"});
  for (const char* column : {"Stall Reason", "Cycles Per Issue", "Share (%)", "Meaning"})
    EXPECT_EQ(cell(table, 1, column), Cell{});
}

}  // namespace
}  // namespace dlkprof::report
