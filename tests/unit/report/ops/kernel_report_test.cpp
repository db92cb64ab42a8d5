#include "report/ops/kernel_report.h"

#include <gtest/gtest.h>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report::kernel_report_test {
namespace {

TEST(KernelReport, OfTheSample) {
  const test::SampleFold sample = test::sample_fold();
  test::expect_golden("kernel.csv", to_csv(to_table(kernel_report(sample.model()))));
}

TEST(KernelReport, HasADirectionForPyTorchOnly) {
  test::SampleFold sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(kernel_report(sample.model())), "Direction"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::xla;
  EXPECT_FALSE(test::has_column(to_table(kernel_report(sample.model())), "Direction"));
}

TEST(KernelReport, CallsThatAreNotKnownAreEmpty) {
  const test::SampleFold sample = test::sample_fold();
  const Table table = to_table(kernel_report(sample.model()));
  EXPECT_EQ(test::cell(table, 2, "Total API Time (ns)"), Cell{});
  EXPECT_EQ(test::cell(table, 2, "Long Kernel Name"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::kernel_report_test
