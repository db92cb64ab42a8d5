#include "report/tensor_report.h"

#include <gtest/gtest.h>

#include "report/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report::tensor_report_test {
namespace {

TEST(TensorReport, OfTheSample) {
  const test::SampleFold sample = test::sample_fold();
  test::expect_golden("tensor.csv", to_csv(to_table(tensor_report(sample.model()))));
}

TEST(TensorReport, HasADirectionForPyTorchOnly) {
  test::SampleFold sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(tensor_report(sample.model())), "Direction"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::xla;
  EXPECT_FALSE(test::has_column(to_table(tensor_report(sample.model())), "Direction"));
}

TEST(TensorReport, HasOpsThatCanUseOrUseTensorCores) {
  test::SampleFold sample = test::sample_fold();
  EXPECT_EQ(tensor_report(sample.model()).count, 1U);
  sample.aggregate.ops[1].uses_tc = true;  // not eligible by its type, but there it is
  EXPECT_EQ(tensor_report(sample.model()).count, 2U);
}

TEST(TensorReport, ListsEachKernel) {
  test::SampleFold sample = test::sample_fold();
  sample.aggregate.ops[0].others = {test::kReluKernel, test::kCopyKernel};
  sample.aggregate.ops[0].tc_gpu_ns = 200;
  const Table table = to_table(tensor_report(sample.model()));
  EXPECT_EQ(test::cell(table, 0, "Non-TC Kernel Names"), Cell{"relu; [CUDA memcpy HtoD]"});
  EXPECT_EQ(test::cell(table, 0, "Total Kernel Count"), Cell{std::uint64_t{3}});
  EXPECT_EQ(test::cell(table, 0, "Non-TC GPU Time"), Cell{std::int64_t{600}});
  EXPECT_EQ(test::cell(table, 0, "TC Utilization (%)"), Cell{25.0});
}

TEST(TensorReport, NoGpuTimeNoUtilization) {
  test::SampleFold sample = test::sample_fold();
  sample.aggregate.ops[0].gpu = {};
  EXPECT_EQ(test::cell(to_table(tensor_report(sample.model())), 0, "TC Utilization (%)"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::tensor_report_test
