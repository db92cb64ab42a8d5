#include "report/diagnosis/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/diagnosed_run.h"
#include "support/pc_samples.h"

namespace dlkprof::report {
namespace {

using test::TimelineBuilder;
using testing::EndsWith;

TEST(MissingSections, NameWhatWouldFillTheCells) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 20, 120));
  const model::Profile& profile = run.profile();
  EXPECT_THAT(missing_sections("stall", profile), EndsWith("collect it with --section stall"));
  EXPECT_THAT(missing_sections("occupancy", profile), EndsWith("--section occupancy"));
  EXPECT_THAT(missing_sections("memory", profile), EndsWith("--section memory"));
  EXPECT_THAT(missing_sections("roofline", profile), EndsWith("--section roofline"));
  EXPECT_THAT(missing_sections("expert_systems", profile), EndsWith("--section speed_of_light --section memory"));
  EXPECT_EQ(missing_sections("detail", profile), "") << "which is about times";
}

TEST(MissingSections, NameNoneWhereThereIsAnything) {
  test::DiagnosedRun run(TimelineBuilder()
                             .launch("k", 10, 20, 120)
                             .measured("k", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", {1})
                             .measured("k", "dram__bytes.sum", {1})
                             .measured("k", "gpu__time_duration.sum", {100}));
  const model::Profile& profile = run.profile();
  EXPECT_EQ(missing_sections("stall", profile), "");
  EXPECT_EQ(missing_sections("memory", profile), "");
  EXPECT_THAT(missing_sections("roofline", profile), EndsWith("--section roofline")) << "operations were not counted";
}

TEST(MissingSections, SamplesFillCellsToo) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  EXPECT_THAT(missing_sections("source", run.profile()), EndsWith("sample with --pc-sampling, or count with --section source"));
  run.timeline().pc_samples = test::small_pc_samples();
  const model::Profile& profile = run.profile();
  EXPECT_EQ(missing_sections("source", profile), "");
  EXPECT_EQ(missing_sections("stall", profile), "");
}

TEST(MissingSections, OfSourceCountsSuffice) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  run.timeline().pc_samples = test::counted_pc_samples();
  run.timeline().pc_samples.totals.clear();
  run.timeline().pc_samples.stalls.clear();
  EXPECT_EQ(missing_sections("source", run.profile()), "");
  EXPECT_THAT(missing_sections("stall", run.profile()), EndsWith("--section stall")) << "which counts say nothing of";
}

TEST(MissingSections, OfKernelsInGraphsSayWhatMeasuresThem) {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 120).launch("other", 130, 140, 150);
  test::DiagnosedRun run(builder);
  for (model::Activity& activity : run.timeline().activities)
    activity.in_graph = run.timeline().kernels[activity.kernel].name == "k";
  const std::string hint = missing_sections("expert_systems", run.profile());
  EXPECT_THAT(hint, testing::HasSubstr("90.9 % of the GPU time of kernels is in CUDA graphs"));
  EXPECT_THAT(hint, testing::HasSubstr("--replay-mode sample"));
}

}  // namespace
}  // namespace dlkprof::report
