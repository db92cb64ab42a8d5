#include "report/diagnosis/reports.h"

#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/table_cells.h"

namespace dlkprof::report {
namespace {

using test::cell;
using test::TimelineBuilder;

// 42 registers: 5 blocks of 8 warps, 40 of 64 (occupancy_advice_test.cpp says why).
test::DiagnosedRun sample() {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 120)
      .launch("k", 130, 140, 240)
      .measured("k", "sm__warps_active.avg.pct_of_peak_sustained_active", {30, 32});
  test::DiagnosedRun run(builder);
  run.launched("k", {330, 1, 1}, {256, 1, 1}, 42);
  return run;
}

TEST(OccupancyReport, HasARowAConfigurationWithWhatLimitsIt) {
  test::DiagnosedRun run = sample();
  const Table table = to_table(occupancy_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(cell(table, 0, "Kernel Name"), Cell{"k"});
  EXPECT_EQ(cell(table, 0, "Grid Size"), Cell{"(330, 1, 1)"});
  EXPECT_EQ(cell(table, 0, "Launches"), Cell{std::uint64_t{2}});
  EXPECT_EQ(cell(table, 0, "Total GPU Time (ns)"), Cell{std::int64_t{200}});
  EXPECT_EQ(cell(table, 0, "Theoretical Occupancy (%)"), Cell{62.5});
  EXPECT_EQ(cell(table, 0, "Achieved Occupancy (%)"), Cell{31.0});
  EXPECT_EQ(cell(table, 0, "Limiter"), Cell{"registers"});
  EXPECT_EQ(cell(table, 0, "Block Limit Registers"), Cell{std::uint64_t{5}});
  EXPECT_EQ(cell(table, 0, "Block Limit Warps"), Cell{std::uint64_t{8}});
  EXPECT_EQ(cell(table, 0, "Next Step"), Cell{"none: the grid does not fill one wave, so that no block is left to add"});
  EXPECT_EQ(cell(table, 0, "Registers Fewer (register/thread)"), Cell{});
  EXPECT_EQ(cell(table, 0, "Occupancy After Step (%)"), Cell{});
  EXPECT_EQ(cell(table, 0, "Waves Per SM"), Cell{0.5});  // 330 of 132 * 5
  EXPECT_EQ(cell(table, 0, "Tail Effect (%)"), Cell{}) << "no wave is full";
  EXPECT_EQ(cell(table, 0, "Why Below Theoretical"), Cell{"grid too small: its 330 blocks allow 31.2 % at most"});
}

TEST(OccupancyReport, HasTheNextStepWhereTheGridHasBlocksForIt) {
  test::DiagnosedRun run = sample();
  run.launched("k", {3300, 1, 1}, {256, 1, 1}, 42);
  const Table table = to_table(occupancy_report(run.profile()));
  EXPECT_EQ(cell(table, 0, "Next Step"), Cell{"2 registers fewer a thread: 62.5 % -> 75 %"});
  EXPECT_EQ(cell(table, 0, "Registers Fewer (register/thread)"), Cell{std::uint64_t{2}});
  EXPECT_EQ(cell(table, 0, "Occupancy After Step (%)"), Cell{75.0});
}

TEST(OccupancyReport, CellsOfWhatIsNotKnownAreEmpty) {
  test::DiagnosedRun run = sample();
  run.timeline().functions.clear();
  run.timeline().measured.clear();
  const Table table = to_table(occupancy_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 1U);
  for (const char* column : {"Theoretical Occupancy (%)", "Achieved Occupancy (%)", "Limiter", "Block Limit Registers",
                             "Next Step", "Occupancy After Step (%)", "Better Block Size (thread)", "Waves Per SM",
                             "Idle SMs (%)", "Tail Effect (%)", "Why Below Theoretical"}) {
    EXPECT_EQ(cell(table, 0, column), Cell{}) << column;
  }
  EXPECT_EQ(cell(table, 0, "Samples Measured"), Cell{std::uint64_t{0}});
}

TEST(OccupancyCurvesReport, HasEachCurveWithItsUnit) {
  test::DiagnosedRun run = sample();
  const Table table = to_table(occupancy_curves_report(run.profile()));
  bool found = false;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (cell(table, row, "Curve") != Cell{"registers"} || cell(table, row, "Value") != Cell{std::uint64_t{40}}) continue;
    EXPECT_EQ(cell(table, row, "Unit"), Cell{"register/thread"});
    EXPECT_NE(cell(table, row, "Kernel Long Name"), Cell{});
    EXPECT_EQ(cell(table, row, "Theoretical Occupancy (%)"), Cell{75.0});
    found = true;
  }
  EXPECT_TRUE(found);
  run.timeline().functions.clear();
  EXPECT_EQ(occupancy_curves_report(run.profile()).count, 0U);
}

}  // namespace
}  // namespace dlkprof::report
