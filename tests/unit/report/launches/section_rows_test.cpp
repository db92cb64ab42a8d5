#include "report/launches/section_rows.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/sample_run.h"

namespace dlkprof::report::section_rows_test {
namespace {

SectionValue stall(const std::string& label, double cycles) {
  return {label, "cycle", "smsp__average_warps_issue_stalled_x_per_issue_active.ratio", cycles};
}

TEST(SectionValues, TakesTheFirstMetricThatHasAValue) {
  cupti::Section section = test::section("s", "S", {test::row("Bytes", "byte", "absent__metric.sum")});
  section.rows[0].metrics.emplace_back("dram__bytes_read.sum");
  const std::vector<SectionValue> values = section_values(section, {{"dram__bytes_read.sum", 5.0}}, {});
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].metric, "dram__bytes_read.sum");
}

TEST(UnmeasuredSections, AreThoseThatNoLaunchHasAValueOf) {
  const model::Timeline run = test::sample_run().timeline;
  EXPECT_EQ(unmeasured_sections(run, test::sample_sections()), std::vector<std::string>{"tensor"});
  const cupti::Section computed = test::section("launch", "Launch", {test::computed_row("Grid", "block", "grid_size")});
  EXPECT_TRUE(unmeasured_sections(run, {computed}).empty()) << "it needs no counter";
}

TEST(TakeStalls, SortsAndShares) {
  std::vector<SectionValue> values{stall("a", 1), stall("b", 3), {"ratio", "", "other.ratio", 5.0}};
  const std::vector<StallRow> rows = take_stalls(values);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label, "b");
  EXPECT_DOUBLE_EQ(rows[0].share, 0.75);
  EXPECT_DOUBLE_EQ(rows[1].share, 0.25);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].label, "ratio");
}

TEST(TakeStalls, FoldsWhatIsBelowHalfAPercent) {
  std::vector<SectionValue> values{stall("small", 0.4), stall("big", 99.2), stall("none", 0), stall("tiny", 0.4)};
  const std::vector<StallRow> rows = take_stalls(values);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].label, "big");
  EXPECT_EQ(rows[1].label, "3 others");
  EXPECT_DOUBLE_EQ(rows[1].cycles, 0.8);
  EXPECT_NEAR(rows[0].share + rows[1].share, 1.0, 1e-12);
}

TEST(TakeStalls, WhatIsIssuedComesLast) {
  std::vector<SectionValue> values{stall("issued", 60), stall("wait", 38), stall("small", 0.1), stall("tiny", 0.1)};
  values[0].metric = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio";
  const std::vector<StallRow> rows = take_stalls(values);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].label, "wait");
  EXPECT_EQ(rows[1].label, "2 others");
  EXPECT_EQ(rows[2].label, "issued");
}

TEST(TakeStalls, OneSmallReasonKeepsItsName) {
  std::vector<SectionValue> values{stall("big", 99.9), stall("small", 0.1)};
  EXPECT_EQ(take_stalls(values).back().label, "small");
}

TEST(TakeStalls, NothingStalledDividesByNothing) {
  std::vector<SectionValue> values{stall("a", 0), stall("b", 0)};
  const std::vector<StallRow> rows = take_stalls(values);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].share, 0);
}

}  // namespace
}  // namespace dlkprof::report::section_rows_test
