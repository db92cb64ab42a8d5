#include "report/diagnosis/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "advise/quantities.h"
#include "support/diagnosed_run.h"
#include "support/golden.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using test::cell;
using test::TimelineBuilder;
using testing::HasSubstr;
using testing::Not;

std::string instructions(const std::string& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}

// 2 us and 1000 bytes a launch, 1000 operations of FP32 and 8000 of the tensor cores.
TimelineBuilder sample(const std::string& kernel) {
  TimelineBuilder builder;
  builder.launch(kernel, 10, 100, 2100).launch(kernel, 20, 2100, 4100);
  const advise::Values values{{"gpu__time_duration.sum", 2000},
                              {"dram__bytes.sum", 1000},
                              {"dram__bytes.sum.peak_sustained_elapsed.per_second", 4e9},
                              {instructions("fadd"), 100},
                              {instructions("fmul"), 50},
                              {instructions("ffma"), 425},
                              {instructions("ffma") + ".peak_sustained_elapsed.per_second", 1e9},
                              {"sm__ops_path_tensor_src_fp16.sum", 8000},
                              {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 50}};
  for (const auto& [metric, value] : values) builder.measured(kernel, metric.text(), {value});
  return builder;
}

TEST(RooflineReport, HasARowAPrecision) {
  test::DiagnosedRun run(sample("k"));
  const Table table = to_table(roofline_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 4U) << "two of the op, two of its kernel";
  EXPECT_EQ(cell(table, 2, "Precision"), Cell{"Tensor FP16"});
  EXPECT_EQ(cell(table, 2, "Operations"), Cell{16000.0}) << "of two launches";
  EXPECT_EQ(cell(table, 2, "Arithmetic Intensity (op/byte)"), Cell{8.0});
  EXPECT_EQ(cell(table, 2, "Performance (op/s)"), Cell{4e9}) << "16000 in 4 us";
  EXPECT_EQ(cell(table, 2, "Peak Performance (op/s)"), Cell{8e9});
  EXPECT_EQ(cell(table, 2, "Peak Performance Source"), Cell{"achieved / share of peak"});
  EXPECT_EQ(cell(table, 2, "Of Attainable (%)"), Cell{50.0});
  EXPECT_EQ(cell(table, 2, "Dominant"), Cell{true});
  EXPECT_EQ(cell(table, 3, "Dominant"), Cell{false});
  EXPECT_EQ(cell(table, 3, "Precision"), Cell{"FP32"});
  EXPECT_EQ(cell(table, 3, "Peak Performance Source"), Cell{"counter"});
  EXPECT_EQ(cell(table, 3, "Attainable (op/s)"), Cell{2e9}) << "1 op/byte at 4e9, but no more than the pipe's 2e9";
  EXPECT_EQ(cell(table, 3, "Of Attainable (%)"), Cell{25.0});
}

TEST(RooflineReport, WhatWasNotCountedHasEmptyCells) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 100, 2100).measured("k", "dram__bytes.sum", {7}));
  const Table table = to_table(roofline_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 2U);
  for (const char* column : {"Precision", "Operations", "Arithmetic Intensity (op/byte)", "Attainable (op/s)"}) {
    EXPECT_EQ(cell(table, 0, column), Cell{}) << column;
  }
}

TEST(RooflinePicture, HasAPointPerKernelUnitsAndOrigin) {
  TimelineBuilder builder = sample("gemm");
  builder.measured("gemm", "lts__t_bytes.sum.peak_sustained_elapsed.per_second", {8e9});
  test::DiagnosedRun run(builder);
  run.timeline().processes[0].record.start_unix_ns = 1'763'769'600'000'000'000;  // 2025-11-22
  const std::string svg = roofline_svg(run.profile());
  std::size_t points = 0;
  for (std::size_t at = svg.find("class=\"p\""); at != std::string::npos; at = svg.find("class=\"p\"", at + 1)) ++points;
  EXPECT_EQ(points, 1U) << "of tensor cores, which do most; FP32 stands in its text";
  EXPECT_THAT(svg, HasSubstr("FP32: 500 MFLOP/s"));
  EXPECT_THAT(svg, HasSubstr(">DRAM 4 GB/s<"));
  EXPECT_THAT(svg, HasSubstr(">L2 8 GB/s<"));
  EXPECT_THAT(svg, HasSubstr("NVIDIA H200, 2025-11-22"));
  EXPECT_THAT(svg, HasSubstr(">gemm</text>"));
  EXPECT_THAT(svg, HasSubstr("GPU time 4 us"));
}

TEST(RooflinePicture, OfTheSample) {
  test::DiagnosedRun run(sample("gemm<float>"));
  test::expect_golden("roofline.svg", roofline_svg(run.profile()));
}

TEST(RooflinePicture, SaysWhatToCollectWhereThereIsNothing) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 100, 2100));
  EXPECT_THAT(roofline_svg(run.profile()), HasSubstr("--section roofline"));
}

TEST(RooflinePicture, NamesNeverBecomeMarkup) {
  const std::string hostile = "</title><script>alert('1&2')</script>\"\x1b[2J\xff" + std::string(100'000, 'x');
  test::DiagnosedRun run(sample(hostile));
  const std::string svg = roofline_svg(run.profile());
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;alert(&#39;1&amp;2&#39;)"));
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  EXPECT_LT(svg.size(), 20'000U);
  EXPECT_EQ(std::count(svg.begin(), svg.end(), '<'), std::count(svg.begin(), svg.end(), '>'));
}

TEST(RooflinePicture, FiguresOfAnySizeStayInsideIt) {
  TimelineBuilder builder = sample("k");
  builder.measured("k", "dram__bytes.sum", {1e-300}).measured("k", instructions("ffma"), {1e300});
  test::DiagnosedRun run(builder);
  const std::string svg = roofline_svg(run.profile());
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace dlkprof::report
