#include "report/launches/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/golden.h"
#include "support/sample_run.h"

namespace dlkprof::report::coverage_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Coverage, ReadsAsItAlwaysDid) {
  const model::Run run = test::sample_run();
  test::expect_golden("coverage.txt", coverage(run));
}

TEST(Coverage, NamesNearMissesAndTheRemedy) {
  const std::string text = coverage(test::sample_run());
  EXPECT_THAT(text, HasSubstr("::regex:gemm:"));
  EXPECT_THAT(text, HasSubstr("Kernel2<gemm_fp16>"));
  EXPECT_THAT(text, HasSubstr("30.0 %"));  // 1.5 of 5 ms
  EXPECT_THAT(text, HasSubstr("--kernel-name-base demangled"));
}

TEST(Coverage, SaysWhenNotAllIsTimed) {
  model::Run run = test::sample_run();
  EXPECT_THAT(coverage(run), Not(HasSubstr("Not all launches are timed")));
  run.coverage.timing_complete = false;
  EXPECT_THAT(coverage(run), HasSubstr("Not all launches are timed"));
}

TEST(Coverage, SaysHowMuchWasSampledAndLost) {
  model::Run run = test::sample_run();
  EXPECT_THAT(coverage(run), Not(HasSubstr("PC sampling")));
  run.pc_totals = model::PcTotals{0, 0, 17, 17, 4'770'980, 3'785, 12, 0};
  EXPECT_THAT(coverage(run), HasSubstr("PC sampling 4,770,980 samples, a multiprocessor once in 131,072 cycles;"));
  EXPECT_THAT(coverage(run), HasSubstr("12 dropped"));
  EXPECT_THAT(coverage(run), Not(HasSubstr("overflowed")));
  run.pc_totals->longest_log2 = 19;
  run.pc_totals->overflows = 2;
  EXPECT_THAT(coverage(run), HasSubstr("131,072 to 524,288\n            cycles; 3,785 of no kernel"));
  EXPECT_THAT(coverage(run), HasSubstr("overflowed 2 times"));
}

TEST(Coverage, NamesFiveKernelsAndCountsTheRest) {
  model::Run run = test::sample_run();
  for (std::uint32_t id = 10; id < 18; ++id) {
    run.functions[id].demangled = "alone_" + std::to_string(id);
    capture::KeyStats stats = test::stats(test::key(id, {1, 1, 1}, {1, 1, 1}), 1, 0);
    stats.skipped = 100 - id;
    stats.reason = capture::SkipReason::collective;
    run.keys[stats.key] = stats;
  }
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("alone_14"));
  EXPECT_THAT(text, Not(HasSubstr("alone_15")));
  EXPECT_THAT(text, HasSubstr("and 3 more"));
  EXPECT_THAT(text, HasSubstr("waits for other GPUs"));
}

TEST(Coverage, ShowsNoticesButNotThousands) {
  model::Run run = test::sample_run();
  for (int i = 0; i < 50; ++i) {
    run.notices.push_back({capture::Severity::error, "bad\033[2J", "thing " + std::to_string(i), "Mend it."});
  }
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("Error"));
  EXPECT_THAT(text, HasSubstr("thing 9. Mend it."));
  EXPECT_THAT(text, HasSubstr("and 40 more notices"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(Coverage, OfAnEmptyRun) {
  const std::string text = coverage(model::Run{});
  EXPECT_THAT(text, HasSubstr("launched no kernel"));
  EXPECT_THAT(text, Not(HasSubstr("GPU time")));
}

std::uint64_t count(const std::vector<CoverageFigure>& figures, const std::string& name) {
  for (const CoverageFigure& figure : figures) {
    if (figure.name == name) return std::get<std::uint64_t>(figure.value);
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

TEST(Coverage, ListsWhatIsIncompleteWithTheReason) {
  model::Run run = test::sample_run();
  run.process.options_json = R"({"samples": 5})";
  for (auto& [key, stats] : run.keys) {
    if (key.function == 4) stats.matched = stats.launches;
  }
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("Incomplete  matched, but skipped"));
  EXPECT_THAT(text, HasSubstr("than --samples asks for (40"));
}

TEST(Coverage, WhatIsSampledIsNotIncomplete) {
  model::Run run = test::sample_run();
  run.process.options_json = R"({"replay_mode": "sample"})";
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("GPUs were sampled while they ran, not launch by launch"));
  EXPECT_THAT(text, Not(HasSubstr("Incomplete")));
}

TEST(Coverage, FiguresOfATimelineAreThoseOfItsCounts) {
  EXPECT_TRUE(coverage_figures(model::Timeline()).empty());
  model::Timeline timeline;
  timeline.processes.resize(1);
  timeline.counts.resize(1);
  timeline.counts[0].launches = 7;
  const auto figures = coverage_figures(timeline);
  EXPECT_EQ(figures[1].name, "launches");
  EXPECT_EQ(figures[1].value, Cell{std::uint64_t{7}});
  EXPECT_EQ(figures.back().name, "damaged_records");
  EXPECT_EQ(figures[figures.size() - 2].value, Cell{"no"}) << "it did not end";
}

TEST(Coverage, FiguresOfProcessesAreAddedUp) {
  model::Run killed = test::sample_run();
  killed.end.reset();
  const auto figures = coverage_figures(std::vector{test::sample_run(), killed});
  EXPECT_EQ(count(figures, "processes"), 2U);
  EXPECT_EQ(count(figures, "launches"), 272U);
  EXPECT_EQ(count(figures, "timed_gpu_ns"), 10'000'000U);
  const auto ended = std::find_if(figures.begin(), figures.end(), [](const auto& figure) { return figure.name == "ended"; });
  EXPECT_EQ(ended->value, Cell{"no"});
  EXPECT_TRUE(coverage_figures(std::span<const model::Run>()).empty());
}

}  // namespace
}  // namespace dlkprof::report::coverage_test
