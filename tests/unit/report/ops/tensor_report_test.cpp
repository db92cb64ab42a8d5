#include "report/ops/reports.h"

#include <gtest/gtest.h>

#include <variant>

#include "report/format/csv.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/table_cells.h"

namespace dlkprof::report::tensor_report_test {
namespace {

TEST(TensorReport, OfTheSample) {
  const model::Profile sample = test::sample_fold();
  test::expect_golden("tensor.csv", to_csv(to_table(tensor_report(sample))));
}

TEST(TensorReport, HasADirectionForPyTorchOnly) {
  model::Profile sample = test::sample_fold();
  EXPECT_TRUE(test::has_column(to_table(tensor_report(sample)), "Direction"));
  for (model::Op& op : sample.fold.ops) op.framework = model::Framework::xla;
  EXPECT_FALSE(test::has_column(to_table(tensor_report(sample)), "Direction"));
}

TEST(TensorReport, HasOpsThatCanUseOrUseTensorCores) {
  model::Profile sample = test::sample_fold();
  EXPECT_EQ(tensor_report(sample).count, 1U);
  sample.aggregate.ops[1].uses_tc = true;  // not eligible by its type, but there it is
  EXPECT_EQ(tensor_report(sample).count, 2U);
}

TEST(TensorReport, ListsEachKernel) {
  model::Profile sample = test::sample_fold();
  sample.aggregate.ops[0].others = {test::kReluKernel, test::kCopyKernel};
  sample.aggregate.ops[0].tc_gpu_ns = 200;
  const Table table = to_table(tensor_report(sample));
  EXPECT_EQ(test::cell(table, 0, "Non-TC Kernel Names"), Cell{"relu; [CUDA memcpy HtoD]"});
  EXPECT_EQ(test::cell(table, 0, "Total Kernel Count"), Cell{std::uint64_t{3}});
  EXPECT_EQ(test::cell(table, 0, "Non-TC GPU Time"), Cell{std::int64_t{600}});
  EXPECT_EQ(test::cell(table, 0, "TC Utilization (%)"), Cell{25.0});
}

TEST(TensorReport, TellsHowFastTensorCoresWere) {
  model::Profile sample = test::sample_fold();
  auto& values = sample.aggregate.ops[0].counters.values;
  values["gpu__time_duration.sum"] = 1000;
  values["sm__ops_path_tensor_src_bf16_dst_fp32.sum"] = 4e8;  // in a microsecond
  values["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"] = 50;
  const Table one = to_table(tensor_report(sample));
  EXPECT_EQ(test::cell(one, 0, "TC Precision"), Cell{"Tensor BF16"});
  EXPECT_DOUBLE_EQ(std::get<double>(test::cell(one, 0, "TC Performance (op/s)")), 4e14);
  EXPECT_DOUBLE_EQ(std::get<double>(test::cell(one, 0, "Peak TC Performance (op/s)")), 8e14);
  EXPECT_DOUBLE_EQ(std::get<double>(test::cell(one, 0, "Of Peak TC Performance (%)")), 50);
  values["sm__ops_path_tensor_src_int8.sum"] = 5e8;
  const Table two = to_table(tensor_report(sample));
  EXPECT_EQ(test::cell(two, 0, "TC Precision"), Cell{"Tensor INT8; Tensor BF16"});
  EXPECT_DOUBLE_EQ(std::get<double>(test::cell(two, 0, "TC Performance (op/s)")), 9e14);
  EXPECT_EQ(test::cell(two, 0, "Peak TC Performance (op/s)"), Cell{}) << "each precision has its own";
}

TEST(TensorReport, TellsWhyTensorCoresAreNotUsed) {
  model::Profile sample = test::sample_fold();
  const auto why = [&] { return test::cell(to_table(tensor_report(sample)), 0, "Why Not TC"); };
  model::OpRow& row = sample.aggregate.ops[0];
  model::Op& op = sample.fold.ops[row.op];
  row.uses_tc = true;
  EXPECT_EQ(why(), Cell{});
  row.uses_tc = false;
  row.tc_source = model::TensorCoreSource::unknown;
  EXPECT_EQ(why(), Cell{}) << "nobody knows whether it does";
  row.tc_source = model::TensorCoreSource::counter;
  op.input_shapes = "[[64, 33], [33, 128]]";
  op.data_types = "float16";
  EXPECT_EQ(why(), Cell{"its input [64, 33] has an extent of 33, no multiple of 8"});
  op.input_shapes = "[[64, 32], [32, 128]]";
  EXPECT_EQ(why(), Cell{"neither shapes nor types forbid it"});
  op.data_types = "float64";
  EXPECT_EQ(why(), Cell{"its inputs are of type float64"});
  EXPECT_EQ(test::cell(to_table(tensor_report(sample)), 0, "At Stake (ns)"), Cell{row.gpu.total});
}

TEST(TensorReport, NoGpuTimeNoUtilization) {
  model::Profile sample = test::sample_fold();
  sample.aggregate.ops[0].gpu = {};
  EXPECT_EQ(test::cell(to_table(tensor_report(sample)), 0, "TC Utilization (%)"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::tensor_report_test
