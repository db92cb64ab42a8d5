#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report::detail_report_test {
namespace {

TEST(DetailReport, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("detail.csv", to_csv(to_table(detail_report(sample))));
}

TEST(DetailReport, HasADirectionForPyTorchOnly) {
  model::Profile sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(detail_report(sample)), "Direction"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::xla;
  EXPECT_FALSE(test::has_column(to_table(detail_report(sample)), "Direction"));
}

TEST(DetailReport, StackTraceIsForPyTorchOnly) {
  model::Profile sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(detail_report(sample)), "Stack Trace"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::none;
  EXPECT_FALSE(test::has_column(to_table(detail_report(sample)), "Stack Trace"));
}

TEST(DetailReport, WhatWasNotAddedUpIsEmpty) {
  model::Profile sample = test::sample_fold();
  const Table table = to_table(detail_report(sample));
  EXPECT_EQ(test::cell(table, 2, "Total CPU Overhead Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 1, "Min GPU Time (ns)"), Cell{std::int64_t{0}}) << "an instance without kernels is a true zero";
  EXPECT_EQ(test::cell(table, 1, "Achieved Occupancy (%)"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::detail_report_test
