#include "report/diagnosis/reports.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/diagnosed_run.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using test::cell;
using test::TimelineBuilder;

// Two calls of an op of one kernel, which reads 600 bytes a launch.
test::DiagnosedRun two_calls() {
  TimelineBuilder builder;
  for (const std::int64_t start : {0, 1000}) {
    builder.range("aten::mm, seq = 1", start, start + 100).launch("k", start + 10, start + 20, start + 120);
    builder.range(test::kIterationEnd, start + 200, start + 300);
  }
  builder.measured("k", "dram__bytes_read.sum", {600}).measured("k", "dram__bytes_write.sum", {200});
  builder.measured("k", "lts__t_sector_hit_rate.pct", {40, 60}).measured("k", "dram__bytes_read.sum.per_second", {6e9});
  return test::DiagnosedRun(builder);
}

TEST(MemoryReport, SumsBytesAndAveragesRates) {
  test::DiagnosedRun run = two_calls();
  const Table table = to_table(memory_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 2U);
  for (const std::size_t row : {0U, 1U}) {
    EXPECT_EQ(cell(table, row, "DRAM Bytes"), Cell{1600.0}) << "(600 + 200) * 2";
    EXPECT_EQ(cell(table, row, "DRAM Bytes Read"), Cell{1200.0});
    EXPECT_EQ(cell(table, row, "L2 Hit Rate (%)"), Cell{50.0});
    EXPECT_EQ(cell(table, row, "DRAM Rate (byte/s)"), Cell{}) << "the rate of writing was not measured";
    EXPECT_EQ(cell(table, row, "L1 Hit Rate (%)"), Cell{});
    EXPECT_EQ(cell(table, row, "Input Bytes"), Cell{}) << "shapes and types are not known";
  }
}

TEST(MemoryReport, SetsWhatWasReadBesideTheInputs) {
  test::DiagnosedRun run = two_calls();
  const model::Profile& profile = run.profile();
  for (model::Op& op : run.fold().ops) {
    op.input_shapes = "[[8, 8], [8]]";
    op.data_types = "[float32, float16]";
  }
  Table table = to_table(memory_report(profile));
  EXPECT_EQ(cell(table, 0, "Input Bytes"), Cell{544.0}) << "(64 * 4 + 8 * 2) * 2 calls";
  EXPECT_DOUBLE_EQ(std::get<double>(cell(table, 0, "DRAM Read Per Input Byte")), 1200.0 / 544);
  EXPECT_EQ(cell(table, 1, "Input Bytes"), Cell{}) << "inputs are an op's";
  run.aggregate().ops[0].counters.covered_ns = 100;
  table = to_table(memory_report(profile));
  EXPECT_EQ(cell(table, 0, "Input Bytes"), Cell{}) << "half of its work was not measured";
}

}  // namespace
}  // namespace dlkprof::report
