#include "report/diagnosis/missing_sections.h"

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
  const Model model = run.subject();
  EXPECT_THAT(missing_sections("stall", model), EndsWith("collect it with --section stall"));
  EXPECT_THAT(missing_sections("occupancy", model), EndsWith("--section occupancy"));
  EXPECT_THAT(missing_sections("memory", model), EndsWith("--section memory"));
  EXPECT_THAT(missing_sections("roofline", model), EndsWith("--section roofline"));
  EXPECT_THAT(missing_sections("expert_systems", model), EndsWith("--section speed_of_light --section memory"));
  EXPECT_EQ(missing_sections("detail", model), "") << "which is about times";
}

TEST(MissingSections, NameNoneWhereThereIsAnything) {
  test::DiagnosedRun run(TimelineBuilder()
                             .launch("k", 10, 20, 120)
                             .measured("k", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", {1})
                             .measured("k", "dram__bytes.sum", {1})
                             .measured("k", "gpu__time_duration.sum", {100}));
  const Model model = run.subject();
  EXPECT_EQ(missing_sections("stall", model), "");
  EXPECT_EQ(missing_sections("memory", model), "");
  EXPECT_THAT(missing_sections("roofline", model), EndsWith("--section roofline")) << "operations were not counted";
}

TEST(MissingSections, SamplesFillCellsToo) {
  test::DiagnosedRun run(TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  EXPECT_THAT(missing_sections("source", run.subject()), EndsWith("--pc-sampling"));
  run.timeline().pc_samples = test::small_pc_samples();
  const Model model = run.subject();
  EXPECT_EQ(missing_sections("source", model), "");
  EXPECT_EQ(missing_sections("stall", model), "");
}

}  // namespace
}  // namespace dlkprof::report
