#include "report/diagnosis/reports.h"

#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using test::cell;
using test::TimelineBuilder;

TEST(BottleneckReport, HasAVerdictForEachOpAndKernelWithItsFigures) {
  TimelineBuilder builder;
  builder.range("aten::mm, seq = 1", 0, 100).launch("gemm", 10, 20, 1020).range("aten::relu, seq = 2", 100, 200);
  builder.launch("relu", 110, 1020, 1120)
      .measured("gemm", test::kSmThroughput, {75})
      .measured("gemm", test::kMemoryThroughput, {30});
  test::DiagnosedRun run(builder);
  run.launched("gemm", {1320, 1, 1}, {256, 1, 1}).launched("relu", {33, 1, 1}, {256, 1, 1});
  const Table table = to_table(bottleneck_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(cell(table, 0, "Level"), Cell{"op"});
  EXPECT_EQ(cell(table, 0, "Kernel Name"), Cell{});
  EXPECT_EQ(cell(table, 1, "Kernel Name"), Cell{"gemm"});
  for (const std::size_t row : {0U, 1U}) {
    EXPECT_EQ(cell(table, row, "Verdict"), Cell{"compute-bound"});
    EXPECT_EQ(cell(table, row, "SM Throughput (%)"), Cell{75.0});
    EXPECT_EQ(cell(table, row, "Memory Throughput (%)"), Cell{30.0});
    EXPECT_EQ(cell(table, row, "SMs Filled (%)"), Cell{100.0});
    EXPECT_EQ(cell(table, row, "Savings Bound (ns/iteration)"), Cell{250.0});
  }
  EXPECT_EQ(cell(table, 3, "Verdict"), Cell{"too small"});
  EXPECT_EQ(cell(table, 3, "SM Throughput (%)"), Cell{}) << "not measured";
  EXPECT_EQ(cell(table, 3, "Savings Bound (ns/iteration)"), Cell{75.0});
  EXPECT_NEAR(std::get<double>(cell(table, 3, "Savings Bound (%)")), 100 * 75.0 / 1120, 1e-9);
}

TEST(BottleneckReport, BoundsAreOfAnIteration) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    builder.launch("k", 1000 * i, 1000 * i + 10, 1000 * i + 410).range(test::kIterationEnd, 1000 * i + 900, 1000 * i + 1000);
  }
  test::DiagnosedRun run(builder);
  run.launched("k", {33, 1, 1}, {256, 1, 1}).timeline().calls.clear();
  for (model::Activity& activity : run.timeline().activities) activity.call = model::kNone;
  const Table table = to_table(bottleneck_report(run.profile({1, 2})));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(cell(table, 0, "Savings Bound (ns/iteration)"), Cell{300.0}) << "three quarters of 800 ns in two iterations";
}

TEST(BottleneckReport, WithoutTimesThereAreNoBounds) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 0, 0));
  const Table table = to_table(bottleneck_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 2U);
  for (const char* column : {"Verdict", "Reason", "Savings Bound (%)", "Launches Waited For (%)"}) {
    EXPECT_EQ(cell(table, 0, column), Cell{}) << column;
  }
}

}  // namespace
}  // namespace dlkprof::report
