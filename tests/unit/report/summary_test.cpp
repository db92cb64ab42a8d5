#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/csv.h"
#include "support/golden.h"
#include "support/sample_run.h"

namespace dlkprof::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Summary, ReadsAsItAlwaysDid) {
  const model::Run run = test::sample_run();
  test::expect_golden("summary.txt", summary(run));
  test::expect_golden("summary.csv", to_csv(summary_report(run)));
}

TEST(Summary, NamesNearMissesAndTheRemedy) {
  const std::string text = summary(test::sample_run());
  EXPECT_THAT(text, HasSubstr("::regex:gemm:"));
  EXPECT_THAT(text, HasSubstr("Kernel2<gemm_fp16>"));
  EXPECT_THAT(text, HasSubstr("30.0 %"));  // 1.5 of 5 ms
  EXPECT_THAT(text, HasSubstr("--kernel-name-base demangled"));
}

TEST(Summary, SaysWhenNotAllIsTimed) {
  model::Run run = test::sample_run();
  EXPECT_THAT(summary(run), Not(HasSubstr("Not all launches are timed")));
  run.coverage.timing_complete = false;
  EXPECT_THAT(summary(run), HasSubstr("Not all launches are timed"));
}

TEST(Summary, NamesFiveKernelsAndCountsTheRest) {
  model::Run run = test::sample_run();
  for (std::uint32_t id = 10; id < 18; ++id) {
    run.functions[id].demangled = "alone_" + std::to_string(id);
    capture::KeyStats stats = test::stats(test::key(id, {1, 1, 1}, {1, 1, 1}), 1, 0);
    stats.left_alone = 100 - id;
    stats.reason = capture::LeftAlone::collective;
    run.keys[stats.key] = stats;
  }
  const std::string text = summary(run);
  EXPECT_THAT(text, HasSubstr("alone_14"));
  EXPECT_THAT(text, Not(HasSubstr("alone_15")));
  EXPECT_THAT(text, HasSubstr("and 3 more"));
  EXPECT_THAT(text, HasSubstr("waits for other GPUs"));
}

TEST(Summary, ShowsNoticesButNotThousands) {
  model::Run run = test::sample_run();
  for (int i = 0; i < 50; ++i) {
    run.notices.push_back({capture::Severity::error, "bad\033[2J", "thing " + std::to_string(i), "Mend it."});
  }
  const std::string text = summary(run);
  EXPECT_THAT(text, HasSubstr("Error"));
  EXPECT_THAT(text, HasSubstr("thing 9. Mend it."));
  EXPECT_THAT(text, HasSubstr("and 40 more notices"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(Summary, OfAnEmptyRun) {
  const std::string text = summary(model::Run{});
  EXPECT_THAT(text, HasSubstr("launched no kernel"));
  EXPECT_THAT(text, Not(HasSubstr("GPU time")));
}

}  // namespace
}  // namespace dlkprof::report
