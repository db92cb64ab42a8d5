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
  model::Sass sass;
  sass.functions = {{.instructions = {{.offset = 0, .text = "LDG.E R4, desc[UR8][R4.64]", .file = {}},
                                      {.offset = 16, .text = "@P0 BRA `(.L_x_0)", .file = {}, .loop = 0},
                                      {.offset = 32, .text = "EXIT", .file = "/src/other.cu", .line = 70}},
                     .loops = {{.head = 16, .last = 16}}}};
  const Table table = to_table(source_report(run.profile(), sass));
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(cell(table, 0, "Kernel Name"), Cell{"k"});
  EXPECT_EQ(cell(table, 0, "SASS Offset"), Cell{std::uint64_t{0}});
  EXPECT_EQ(cell(table, 0, "Source File"), Cell{"/src/model.cu"});
  EXPECT_EQ(cell(table, 0, "Source Line"), Cell{std::uint64_t{7}});
  EXPECT_EQ(cell(table, 0, "PC Samples"), Cell{std::uint64_t{5}});
  EXPECT_EQ(cell(table, 0, "Share Of Kernel (%)"), Cell{50.0});
  EXPECT_EQ(cell(table, 0, "Top Stall Reason"), Cell{"long_scoreboard"});
  EXPECT_EQ(cell(table, 0, "Top Stall Share (%)"), Cell{80.0});
  EXPECT_EQ(cell(table, 0, "Stalled Samples"), Cell{std::uint64_t{4}});
  EXPECT_EQ(cell(table, 0, "SASS"), Cell{"LDG.E R4, desc[UR8][R4.64]"});
  EXPECT_EQ(cell(table, 0, "Line Share Of Kernel (%)"), Cell{50.0});
  EXPECT_EQ(cell(table, 0, "Loop"), Cell{});
  EXPECT_EQ(cell(table, 1, "Loop"), Cell{"0x10-0x10"});
  EXPECT_EQ(cell(table, 1, "Loop Lines"), Cell{"8"});
  EXPECT_EQ(cell(table, 1, "Loop Share Of Kernel (%)"), Cell{40.0});
  EXPECT_EQ(cell(table, 2, "Source File"), Cell{"/src/other.cu"}) << "by the machine code";
  EXPECT_EQ(cell(table, 2, "Source Line"), Cell{std::uint64_t{70}});
  EXPECT_EQ(cell(table, 2, "Top Stall Reason"), Cell{}) << "all of its samples issued";
  EXPECT_EQ(cell(table, 3, "Kernel Name"), Cell{"other"});
  EXPECT_EQ(cell(table, 3, "SASS"), Cell{}) << "its machine code is not known";
  EXPECT_EQ(cell(table, 3, "Source Line"), Cell{});
}

TEST(SourceReport, AddsUpTheInstructionsOfALine) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  run.timeline().pc_samples = test::small_pc_samples();
  run.timeline().pc_samples.instructions[1].line = 7;
  const model::Sass sass;
  const Table table = to_table(source_report(run.profile(), sass));
  for (const std::size_t row : {0, 1}) EXPECT_EQ(cell(table, row, "Line Share Of Kernel (%)"), Cell{90.0});
  EXPECT_EQ(cell(table, 2, "Line Share Of Kernel (%)"), Cell{}) << "its line is not known";
}

TEST(SourceReport, SaysWhatInstructionsDid) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  run.timeline().pc_samples = test::counted_pc_samples();
  const model::Sass sass;
  const Table table = to_table(source_report(run.profile(), sass));
  ASSERT_EQ(table.rows.size(), 6U);
  EXPECT_EQ(cell(table, 0, "Instructions Executed"), Cell{std::uint64_t{110}}) << "of two launches";
  EXPECT_EQ(cell(table, 0, "Launches Counted"), Cell{std::uint64_t{2}});
  EXPECT_EQ(cell(table, 0, "Avg. Threads Executed"), Cell{32.0});
  EXPECT_EQ(cell(table, 0, "Avg. Predicated-On Threads Executed"), Cell{1920.0 / 110});
  EXPECT_EQ(cell(table, 0, "L2 Theoretical Sectors Global"), Cell{std::uint64_t{880}});
  EXPECT_EQ(cell(table, 0, "L2 Theoretical Sectors Global Excessive"), Cell{std::uint64_t{640}});
  EXPECT_EQ(cell(table, 0, "Divergent Branches"), Cell{}) << "which the GPU does not count";
  EXPECT_EQ(cell(table, 0, "L1 Wavefronts Shared Excessive"), Cell{});
  EXPECT_EQ(cell(table, 2, "Instructions Executed"), Cell{std::uint64_t{0}}) << "sampled in another launch";
  EXPECT_EQ(cell(table, 2, "Avg. Threads Executed"), Cell{});
  EXPECT_EQ(cell(table, 3, "Instructions Executed"), Cell{}) << "its function was not counted";
  EXPECT_EQ(cell(table, 3, "Launches Counted"), Cell{});
  EXPECT_EQ(cell(table, 5, "SASS Offset"), Cell{std::uint64_t{32}});
  EXPECT_EQ(cell(table, 5, "PC Samples"), Cell{std::uint64_t{0}});
  EXPECT_EQ(cell(table, 5, "Share Of Kernel (%)"), Cell{0.0});
  EXPECT_EQ(cell(table, 5, "Launches Counted"), Cell{std::uint64_t{1}});
}

TEST(SourceReport, NeedsNoSamples) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  run.timeline().pc_samples = test::counted_pc_samples();
  run.timeline().pc_samples.stalls.clear();
  run.timeline().pc_samples.totals.clear();
  model::Sass sass;
  sass.functions = {{.instructions = {{.offset = 0, .text = "LDG", .file = {}, .loop = 0}}, .loops = {{.head = 0, .last = 0}}}};
  const Table table = to_table(source_report(run.profile(), sass));
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_EQ(cell(table, 0, "Instructions Executed"), Cell{std::uint64_t{110}});
  EXPECT_EQ(cell(table, 0, "Loop"), Cell{"0x0-0x0"});
  for (const char* share : {"Share Of Kernel (%)", "Line Share Of Kernel (%)", "Loop Share Of Kernel (%)"})
    EXPECT_EQ(cell(table, 0, share), Cell{}) << share;
}

TEST(SourceReport, OfARunThatWasNotSampledIsEmpty) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120));
  const model::Sass sass;
  EXPECT_EQ(source_report(run.profile(), sass).count, 0U);
}

}  // namespace
}  // namespace dlkprof::report::source_report_test
