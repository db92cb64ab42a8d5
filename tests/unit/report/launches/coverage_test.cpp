#include "report/launches/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/golden.h"
#include "support/sample_run.h"

namespace dlkprof::report::coverage_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Coverage, ReadsAsItAlwaysDid) { test::expect_golden("coverage.txt", coverage(test::sample_run().timeline)); }

TEST(Coverage, NamesNearMissesAndTheRemedy) {
  const std::string text = coverage(test::sample_run().timeline);
  EXPECT_THAT(text, HasSubstr("::regex:gemm:"));
  EXPECT_THAT(text, HasSubstr("Kernel2<gemm_fp16>"));
  EXPECT_THAT(text, HasSubstr("21.2 %"));  // 1.5 of 7.07 ms
  EXPECT_THAT(text, HasSubstr("--kernel-name-base demangled"));
}

TEST(Coverage, SaysWhenNotAllIsTimed) {
  model::Timeline run = test::sample_run().timeline;
  EXPECT_THAT(coverage(run), Not(HasSubstr("Not all launches are timed")));
  run.processes[0].timing_complete = false;
  EXPECT_THAT(coverage(run), HasSubstr("Not all launches are timed"));
}

TEST(Coverage, SaysHowMuchWasSampledAndLost) {
  model::Timeline run = test::sample_run().timeline;
  EXPECT_THAT(coverage(run), Not(HasSubstr("PC sampling")));
  run.pc_samples.totals = {{0, 0, 17, 17, 4'770'980, 3'785, 12, 0}};
  EXPECT_THAT(coverage(run), HasSubstr("PC sampling 4,770,980 samples, a multiprocessor once in 131,072 cycles;"));
  EXPECT_THAT(coverage(run), HasSubstr("12 dropped"));
  EXPECT_THAT(coverage(run), Not(HasSubstr("overflowed")));
  run.pc_samples.totals[0].longest_log2 = 19;
  run.pc_samples.totals[0].overflows = 2;
  EXPECT_THAT(coverage(run), HasSubstr("131,072 to 524,288\n            cycles; 3,785 of no kernel"));
  EXPECT_THAT(coverage(run), HasSubstr("PC samples were lost: the hardware's buffer overflowed 2 times."));
}

TEST(Coverage, NamesFiveKernelsAndCountsTheRest) {
  model::Timeline run = test::sample_run().timeline;
  for (std::uint32_t id = 10; id < 18; ++id) {
    model::LaunchCounts& counts = run.counts.emplace_back();
    counts.kernel = static_cast<std::uint32_t>(run.kernels.size());
    run.kernels.emplace_back().long_name = "alone_" + std::to_string(id);
    counts.launches = 1;
    counts.skipped = 100 - id;
    counts.reason = capture::SkipReason::collective;
  }
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("alone_14"));
  EXPECT_THAT(text, Not(HasSubstr("alone_15")));
  EXPECT_THAT(text, ContainsRegex("and[ \n]+3[ \n]+more"));
  EXPECT_THAT(text, HasSubstr("waits for other GPUs"));
}

TEST(Coverage, ShowsNoticesButNotThousands) {
  model::Timeline run = test::sample_run().timeline;
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
  const std::string text = coverage(test::load_records({}).timeline);
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
  model::Timeline run = test::sample_run().timeline;
  run.processes[0].record.options_json = R"({"samples": 5})";
  for (model::LaunchCounts& counts : run.counts) {
    if (run.kernels[counts.kernel].name == "relu") counts.matched = counts.launches;
  }
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("Incomplete  matched, but skipped"));
  EXPECT_THAT(text, HasSubstr("than --samples asks for (40"));
}

TEST(Coverage, WhatIsSampledIsNotIncomplete) {
  model::Timeline run = test::sample_run().timeline;
  run.processes[0].record.options_json = R"({"replay_mode": "sample"})";
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
  const test::TemporaryDirectory folder;
  std::vector<capture::Record> killed = test::sample_records();
  killed.pop_back();
  const std::array captures{test::write_capture(folder.path(), test::sample_records(), "a"),
                            test::write_capture(folder.path(), killed, "b")};
  const model::Timeline timeline = model::load_timeline(captures);
  const auto figures = coverage_figures(timeline);
  EXPECT_EQ(count(figures, "processes"), 2U);
  EXPECT_EQ(count(figures, "launches"), 272U);
  EXPECT_EQ(count(figures, "timed_gpu_ns"), 10'000'000U);
  const auto ended = std::find_if(figures.begin(), figures.end(), [](const auto& figure) { return figure.name == "ended"; });
  EXPECT_EQ(ended->value, Cell{"no"});
  const std::string text = coverage(timeline);
  EXPECT_THAT(text, HasSubstr("Capture     a.dlkcap"));
  EXPECT_THAT(text, HasSubstr("Capture     b.dlkcap"));
}

// All GPU time is what shares are of: also that of launches while they were measured, and of graphs.
TEST(Coverage, SharesAreOfAllGpuTime) {
  const model::Timeline run = test::sample_run().timeline;
  const auto figures = coverage_figures(run);
  EXPECT_EQ(count(figures, "measured_gpu_ns"), 66'656U + 65'920 + 1'234'567);
  EXPECT_EQ(count(figures, "gpu_ns"), 5'000'000U + 700'000 + 66'656 + 65'920 + 1'234'567);
  EXPECT_EQ(count(figures, "covered_gpu_ns"), 2'500'000U + 66'656 + 65'920 + 1'234'567);
  const std::string text = coverage(run);
  EXPECT_THAT(text, HasSubstr("GPU time    7.07 ms in all: 5 ms in 130 launches, 1.37 ms in launches while they"));
  EXPECT_THAT(text, HasSubstr("35.4 % of all GPU time is in kernels"));
}

}  // namespace
}  // namespace dlkprof::report::coverage_test
