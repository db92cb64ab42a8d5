#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report::iteration_report_test {
namespace {

TEST(IterationReport, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("iteration.csv", to_csv(to_table(iteration_report(sample))));
}

TEST(IterationReport, HasADirectionForPyTorchOnly) {
  model::Profile sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(iteration_report(sample)), "Direction"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::xla;
  EXPECT_FALSE(test::has_column(to_table(iteration_report(sample)), "Direction"));
}

TEST(IterationReport, KeepsToTheRangeOfIterations) {
  model::Profile sample = test::sample_fold();
  sample.aggregate.first_iteration = 1;
  const Table table = to_table(iteration_report(sample));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(test::cell(table, 0, "Iteration"), Cell{std::uint64_t{1}});
}

TEST(IterationReport, WhatWasNotTimedIsEmpty) {
  const model::Profile sample = test::sample_fold();
  const Table table = to_table(iteration_report(sample));
  EXPECT_EQ(test::cell(table, 3, "GPU Start Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 3, "GPU Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 3, "API Call Time (ns)"), Cell{std::int64_t{30}});
}

TEST(IterationReport, TheTimeOfACallCountsOnce) {
  model::Profile sample = test::sample_fold();
  for (model::Activity& activity : sample.timeline.activities) activity.call = 0;
  const Table table = to_table(iteration_report(sample));
  ASSERT_GT(table.rows.size(), 1U);
  EXPECT_NE(test::cell(table, 0, "API Call Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 1, "API Call Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 1, "API Call Start (ns)"), test::cell(table, 0, "API Call Start (ns)"));
}

TEST(IterationReport, CopiesHaveBytesAndNoGrid) {
  const model::Profile sample = test::sample_fold();
  const Table table = to_table(iteration_report(sample));
  EXPECT_EQ(test::cell(table, 4, "Bytes"), Cell{std::uint64_t{4096}});
  EXPECT_EQ(test::cell(table, 4, "Grid X"), Cell{});
  EXPECT_EQ(test::cell(table, 0, "Bytes"), Cell{});
  EXPECT_EQ(test::cell(table, 0, "Grid Y"), Cell{std::uint64_t{16}});
}

TEST(IterationReport, ShowsTheMeanOfWhatWasMeasuredOfTheConfiguration) {
  const model::Profile sample = test::sample_fold();
  const Table table = to_table(iteration_report(sample));
  EXPECT_EQ(test::cell(table, 2, "Achieved Occupancy (%)"), Cell{19.0});
  EXPECT_EQ(test::cell(table, 2, "DRAM Bytes"), Cell{2000.0});
  EXPECT_EQ(test::cell(table, 2, "Samples Measured"), Cell{std::uint64_t{2}});
  EXPECT_EQ(test::cell(table, 1, "Achieved Occupancy (%)"), Cell{});
}

TEST(IterationReport, LivesWithoutTheCall) {
  model::Profile sample = test::sample_fold();
  sample.timeline.activities[0].call = model::kNone;
  EXPECT_EQ(test::cell(to_table(iteration_report(sample)), 0, "API Call Start (ns)"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::iteration_report_test
