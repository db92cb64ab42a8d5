#include "report/launches/reports.h"

#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/pc_samples.h"
#include "support/table_cells.h"

namespace dlkprof::report::source_report_test {
namespace {

using test::cell;

TEST(SourceReport, SaysWhereWarpsWereFound) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  run.timeline().pc_samples = test::small_pc_samples();
  const Table table = to_table(source_report(run.profile()));
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(cell(table, 0, "Kernel Name"), Cell{"k"});
  EXPECT_EQ(cell(table, 0, "SASS Offset"), Cell{std::uint64_t{0}});
  EXPECT_EQ(cell(table, 0, "Source File"), Cell{"/src/model.cu"});
  EXPECT_EQ(cell(table, 0, "Source Line"), Cell{std::uint64_t{7}});
  EXPECT_EQ(cell(table, 0, "PC Samples"), Cell{std::uint64_t{5}});
  EXPECT_EQ(cell(table, 0, "Share Of Kernel (%)"), Cell{50.0});
  EXPECT_EQ(cell(table, 0, "Top Stall Reason"), Cell{"long_scoreboard"});
  EXPECT_EQ(cell(table, 0, "Top Stall Share (%)"), Cell{80.0});
  EXPECT_EQ(cell(table, 2, "Source Line"), Cell{}) << "not known";
  EXPECT_EQ(cell(table, 2, "Top Stall Reason"), Cell{}) << "all of its samples issued";
  EXPECT_EQ(cell(table, 3, "Kernel Name"), Cell{"other"});
}

TEST(SourceReport, OfARunThatWasNotSampledIsEmpty) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120));
  EXPECT_EQ(source_report(run.profile()).count, 0U);
}

}  // namespace
}  // namespace dlkprof::report::source_report_test
