#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report::kernel_report_test {
namespace {

TEST(KernelReport, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("kernel.csv", to_csv(to_table(kernel_report(sample))));
}

TEST(KernelReport, HasADirectionForPyTorchOnly) {
  model::Profile sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(kernel_report(sample)), "Direction"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::xla;
  EXPECT_FALSE(test::has_column(to_table(kernel_report(sample)), "Direction"));
}

TEST(KernelReport, CallsThatAreNotKnownAreEmpty) {
  const model::Profile sample = test::sample_fold();
  const Table table = to_table(kernel_report(sample));
  EXPECT_EQ(test::cell(table, 2, "Total API Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 2, "Long Kernel Name"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::kernel_report_test
