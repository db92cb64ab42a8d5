#include "report/launches/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/table_cells.h"

namespace dlkprof::report::measured_report_test {
namespace {

using capture::CacheControl;
using capture::ReplayMode;

model::MeasuredLaunch launch(ReplayMode replay_mode, CacheControl caches) {
  model::MeasuredLaunch made;
  made.replay_mode = replay_mode;
  made.cache_control = caches;
  made.passes = 10;
  return made;
}

TEST(MeasuredReport, SaysWhereEachFigureComesFrom) {
  test::TimelineBuilder builder;
  builder.launch("k", 10, 20, 120).measured("k", "dram__bytes.sum", {4, 6, 100});
  builder.measured("k", "gpc__cycles_elapsed.avg.per_second", {1.5e9, 1.7e9, 1.9e9});
  builder.launches_measured("k", {launch(ReplayMode::kernel, CacheControl::all), launch(ReplayMode::kernel, CacheControl::all),
                                  launch(ReplayMode::iteration, CacheControl::none)});
  test::DiagnosedRun run(builder);
  const auto profile = run.profile();
  const Table table = to_table(measured_report(profile));
  ASSERT_EQ(table.rows.size(), 4U) << "two metrics, two ways";
  EXPECT_EQ(test::cell(table, 0, "Kernel Name"), Cell{"k"});
  EXPECT_EQ(test::cell(table, 0, "Metric"), Cell{"dram__bytes.sum"});
  EXPECT_EQ(test::cell(table, 0, "Samples"), Cell{std::uint64_t{2}});
  EXPECT_EQ(test::cell(table, 0, "Mean"), Cell{5.0});
  EXPECT_EQ(test::cell(table, 0, "Min"), Cell{4.0});
  EXPECT_EQ(test::cell(table, 0, "Max"), Cell{6.0});
  EXPECT_DOUBLE_EQ(std::get<double>(test::cell(table, 0, "Standard Deviation")), std::sqrt(2.0));
  EXPECT_EQ(test::cell(table, 0, "Collected By"), Cell{"kernel replay"});
  EXPECT_EQ(test::cell(table, 0, "Cache Control"), Cell{"all"});
  EXPECT_EQ(test::cell(table, 0, "Passes"), Cell{std::uint64_t{10}});
  EXPECT_EQ(test::cell(table, 0, "SM Clock (Hz)"), Cell{1.6e9});
  EXPECT_EQ(test::cell(table, 1, "Collected By"), Cell{"iteration replay"});
  EXPECT_EQ(test::cell(table, 1, "Samples"), Cell{std::uint64_t{1}});
  EXPECT_EQ(test::cell(table, 1, "Standard Deviation"), Cell{});
}

TEST(MeasuredReport, WhatIsNotKnownIsEmpty) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120).measured("k", "dram__bytes.sum", {4}));
  const auto profile = run.profile();
  const Table table = to_table(measured_report(profile));
  ASSERT_EQ(table.rows.size(), 1U);
  for (const char* column : {"Standard Deviation", "Collected By", "Cache Control", "Passes", "Metric Set", "SM Clock (Hz)"})
    EXPECT_EQ(test::cell(table, 0, column), Cell{}) << column;
}

}  // namespace
}  // namespace dlkprof::report::measured_report_test
