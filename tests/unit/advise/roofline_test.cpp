#include "advise/roofline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "cupti/catalogue.h"

namespace dlkprof::advise {
namespace {

std::string instructions(const std::string& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}

// 2 us, 1000 bytes, and of FP32 100 additions, 50 multiplications and 425 multiply-adds: 1000 operations.
Values fp32_kernel() {
  return {{"gpu__time_duration.sum", 2000},
          {"dram__bytes.sum", 1000},
          {"dram__bytes.sum.peak_sustained_elapsed.per_second", 4e12},
          {instructions("fadd"), 100},
          {instructions("fmul"), 50},
          {instructions("ffma"), 425},
          {instructions("ffma") + ".peak_sustained_elapsed.per_second", 3e13}};
}

TEST(Rooflines, CountOperationsByHand) {
  const auto roofline = roofline_of(fp32_kernel());
  ASSERT_TRUE(roofline);
  EXPECT_TRUE(roofline->counted);
  ASSERT_EQ(roofline->points.size(), 1U);
  const RooflinePoint& point = roofline->points[0];
  EXPECT_STREQ(point.precision, "FP32");
  EXPECT_EQ(point.operations, 1000) << "100 + 50 + 2 * 425";
  EXPECT_DOUBLE_EQ(point.rate, 5e8) << "1000 in 2 us";
  EXPECT_EQ(point.intensity, 1);
  ASSERT_TRUE(point.compute && roofline->dram);
  EXPECT_EQ(point.compute->rate, 6e13) << "a multiply-add is two";
  EXPECT_STREQ(point.compute->source, "counter");
  EXPECT_EQ(roofline->dram->rate, 4e12);
  EXPECT_EQ(attainable(*roofline, point), 4e12) << "1 op/byte at 4e12 byte/s, below the 6e13 op/s";
}

TEST(Rooflines, DeriveAPeakFromAShareOfIt) {
  Values values = fp32_kernel();
  values["dram__bytes.sum.peak_sustained_elapsed.per_second"] = 0;
  values["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 25;
  const auto roofline = roofline_of(values);
  ASSERT_TRUE(roofline && roofline->dram);
  EXPECT_DOUBLE_EQ(roofline->dram->rate, 2e9) << "1000 byte in 2 us are 5e8 byte/s, a quarter of the peak";
  EXPECT_STREQ(roofline->dram->source, "achieved / share of peak");
  values["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 0;
  EXPECT_FALSE(roofline_of(values)->dram);
}

TEST(Rooflines, TensorOperationsAreCountedAsSuch) {
  Values values = fp32_kernel();
  values["sm__ops_path_tensor_src_fp16.sum"] = 8000;
  values["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"] = 50;
  const auto roofline = roofline_of(values);
  ASSERT_EQ(roofline->points.size(), 2U);
  EXPECT_STREQ(roofline->points[0].precision, "Tensor FP16") << "by operations";
  EXPECT_EQ(roofline->points[0].operations, 8000);
  EXPECT_EQ(roofline->points[0].intensity, 8);
  ASSERT_TRUE(roofline->points[0].compute);
  EXPECT_DOUBLE_EQ(roofline->points[0].compute->rate, 8e9) << "8000 in 2 us, at half of the pipe";
  values["sm__ops_path_tensor_src_int8.sum"] = 10;
  EXPECT_FALSE(roofline_of(values)->points[0].compute) << "the pipe's share is of both";
}

TEST(Rooflines, WhatWasNotMeasuredIsNotThere) {
  EXPECT_FALSE(roofline_of({}));
  EXPECT_FALSE(roofline_of({{"gpu__time_duration.sum", 0}, {"dram__bytes.sum", 5}})) << "no rate without time";
  const auto traffic = roofline_of({{"gpu__time_duration.sum", 10}, {"dram__bytes.sum", 5}});
  ASSERT_TRUE(traffic);
  EXPECT_FALSE(traffic->counted);
  EXPECT_TRUE(traffic->points.empty());
  Values idle = fp32_kernel();
  for (const char* operation : {"fadd", "fmul", "ffma"}) idle[instructions(operation)] = 0;
  EXPECT_TRUE(roofline_of(idle)->counted);
  EXPECT_TRUE(roofline_of(idle)->points.empty());
  Values cached = fp32_kernel();
  cached["dram__bytes.sum"] = 0;
  EXPECT_FALSE(roofline_of(cached)->points[0].intensity);
  Values hostile = fp32_kernel();
  hostile[instructions("fadd")] = NAN;
  EXPECT_TRUE(roofline_of(hostile)->points.empty());
}

// A kernel of PyTorch's in FP32 on an H200 loads four constants per thread with HFMA, in 139 instructions of a warp.
TEST(Rooflines, MovesAndConversionsAreNoArithmetic) {
  const auto has_fp16 = [](double add, double mul, double fma) {
    Values values = fp32_kernel();
    values[instructions("hadd")] = 32 * add;
    values[instructions("hmul")] = 32 * mul;
    values[instructions("hfma")] = 32 * fma;
    values["smsp__inst_executed.sum"] = 139;
    return roofline_of(values)->points.size() == 2;
  };
  EXPECT_FALSE(has_fp16(0, 0, 4)) << "constants";
  EXPECT_FALSE(has_fp16(4, 0, 0)) << "conversions to FP32";
  EXPECT_TRUE(has_fp16(0, 1, 4));
  EXPECT_TRUE(has_fp16(0, 0, 64));
}

TEST(Rooflines, HaveRoofsOfCaches) {
  Values values = fp32_kernel();
  values["lts__t_bytes.sum"] = 4000;
  values["lts__t_bytes.sum.peak_sustained_elapsed.per_second"] = 8e12;
  const auto roofline = roofline_of(values);
  EXPECT_EQ(roofline->l2_bytes, 4000);
  EXPECT_EQ(roofline->l2->rate, 8e12);
  EXPECT_FALSE(roofline->l1);
}

TEST(Rooflines, TakeEveryCountOfTheSection) {
  const auto catalogue = cupti::Catalogue::load(std::filesystem::path(DLKPROF_SOURCE_DIR) / "metrics");
  for (const cupti::SectionRow& row : catalogue.section("roofline").rows) {
    for (const std::string& metric : row.metrics) {
      if (metric.find(".peak_") != std::string::npos || row.unit == "byte" || row.unit == "ns") continue;
      Values values{{"gpu__time_duration.sum", 1000}, {"dram__bytes.sum", 10}, {"smsp__inst_executed.sum", 1}};
      for (const char* letter : {"h", "f", "d"}) {
        for (const char* operation : {"add", "mul", "fma"}) values[instructions(std::string(letter) + operation)] = 0;
      }
      values[metric] = 7;
      EXPECT_EQ(roofline_of(values)->points.size(), 1U) << metric;
    }
  }
}

}  // namespace
}  // namespace dlkprof::advise
