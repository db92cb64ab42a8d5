#include "model/aggregate/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/aggregate/measured_launches.h"
#include "support/sample_run.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::provenance_test {
namespace {

using capture::CacheControl;
using capture::ReplayMode;
using test::TimelineBuilder;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::Optional;
using testing::SizeIs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kClock = "gpc__cycles_elapsed.avg.per_second";

MeasuredLaunch measured(std::uint64_t index, ReplayMode replay_mode, CacheControl caches = CacheControl::none,
                        std::uint32_t passes = 3) {
  MeasuredLaunch launch;
  launch.launch_index = index;
  launch.passes = passes;
  launch.replay_mode = replay_mode;
  launch.cache_control = caches;
  return launch;
}

Spread spread_of(std::initializer_list<double> values) {
  Spread spread;
  for (const double value : values) spread.add(value);
  return spread;
}

TEST(Spread, OfNothingIsNothing) {
  const Spread none = spread_of({kNan, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(none.n(), 0U);
  EXPECT_FALSE(none.mean() || none.least() || none.most() || none.deviation());
}

TEST(Spread, OfOneValueHasNoDeviation) {
  const Spread one = spread_of({7});
  EXPECT_THAT(one.mean(), Optional(7.0));
  EXPECT_FALSE(one.deviation());
}

TEST(Spread, IsThatOfTheSample) {
  const Spread four = spread_of({2, 4, 4, kNan, 6});
  EXPECT_EQ(four.n(), 4U);
  EXPECT_THAT(four.mean(), Optional(DoubleEq(4)));
  EXPECT_THAT(four.least(), Optional(2.0));
  EXPECT_THAT(four.most(), Optional(6.0));
  EXPECT_THAT(four.deviation(), Optional(DoubleNear(std::sqrt(8.0 / 3), 1e-12)));
}

TEST(Spread, KeepsSmallDeviationsOfLargeValues) {
  EXPECT_THAT(spread_of({1e15 + 1, 1e15 + 2, 1e15 + 3}).deviation(), Optional(DoubleNear(1, 1e-9)));
}

TEST(Spread, BeyondDoublesIsEmpty) {
  const Spread far = spread_of({1.7e308, -1.7e308});
  EXPECT_FALSE(far.deviation());
  EXPECT_THAT(far.most(), Optional(1.7e308));
}

TEST(MeasuredFigures, ARowForWhatWasMeasuredAlike) {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 30).measured("k", "m.sum", {1, 100, 3, kNan}).measured("k", kClock, {1e9, 5e9, 2e9, 7e9});
  builder.launches_measured("k", {measured(0, ReplayMode::kernel), measured(1, ReplayMode::iteration),
                                  measured(2, ReplayMode::kernel), measured(3, ReplayMode::kernel)});
  const Timeline timeline = builder.build();
  std::vector<MeasuredFigure> figures = measured_figures(timeline);
  std::erase_if(figures, [](const MeasuredFigure& figure) { return *figure.metric != "m.sum"; });
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_EQ(figures[0].conditions->replay_mode, ReplayMode::kernel);
  EXPECT_EQ(figures[0].values.n(), 2U) << "the launch without a value does not count";
  EXPECT_THAT(figures[0].values.mean(), Optional(2.0));
  EXPECT_THAT(figures[0].clock_hz.mean(), Optional(1.5e9)) << "of those launches alone";
  EXPECT_EQ(figures[1].conditions->replay_mode, ReplayMode::iteration);
  EXPECT_THAT(figures[1].values.mean(), Optional(100.0));
}

TEST(MeasuredFigures, WhatWasSampledIsNotOfOneLaunch) {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 30).measured("k", "sampled.sum", {7}).measured("k", "m.sum", {1});
  Timeline timeline = builder.build();
  timeline.sampled[timeline.measured.begin()->first]["sampled.sum"] = {.samples = 100, .launches = 3, .mean = 7};
  const std::vector<MeasuredFigure> figures = measured_figures(timeline);
  ASSERT_THAT(figures, SizeIs(1));
  EXPECT_EQ(*figures[0].metric, "m.sum");
}

TEST(MeasuredFigures, CachesPassesAndMetricSetsAreNotMixed) {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 30).measured("k", "m.sum", {1, 2, 3, 4});
  MeasuredLaunch other_set = measured(3, ReplayMode::kernel);
  other_set.metric_set = 1;
  builder.launches_measured("k", {measured(0, ReplayMode::kernel), measured(1, ReplayMode::kernel, CacheControl::all),
                                  measured(2, ReplayMode::kernel, CacheControl::none, 4), other_set});
  EXPECT_THAT(measured_figures(builder.build()), SizeIs(4));
}

TEST(MeasuredFigures, OfUnknownOriginSayNothingOfIt) {
  TimelineBuilder builder;
  builder.launch("k", 10, 20, 30).measured("k", "m.sum", {1, 2});
  builder.launches_measured("k", {measured(0, ReplayMode::kernel)});  // as a damaged database may have it
  const std::vector<MeasuredFigure> figures = measured_figures(builder.build());
  ASSERT_THAT(figures, SizeIs(2));
  EXPECT_FALSE(figures[0].conditions);
  EXPECT_THAT(figures[0].values.mean(), Optional(2.0));
  EXPECT_FALSE(figures[0].clock_hz.mean());
}

TEST(AlikeLaunches, AreOfOneConfigurationMeasuredAlike) {
  Timeline timeline = test::sample_run().timeline;
  const std::vector<Launch> launches = launches_of(timeline);
  const auto alike = [&timeline](const Launch& launch) {
    return alike_launches(timeline).at({launch.config, launch.conditions()});
  };
  EXPECT_EQ(alike(launches[0]).launches, 2U);
  EXPECT_THAT(alike(launches[0]).values.at(kDurationMetric).mean(), Optional(DoubleEq((66656.0 + 65920) / 2)));
  EXPECT_THAT(alike(launches[0]).clock_hz.mean(), Optional(1.755e9));
  EXPECT_EQ(alike(launches[1]).launches, 1U);
  timeline.measured_launches[launches[0].config][0].cache_control = CacheControl::all;
  EXPECT_EQ(alike(launches[0]).launches, 1U);
}

TEST(WaysText, NamesThoseThatOccur) {
  EXPECT_EQ(replay_modes_text(0), "");
  EXPECT_EQ(replay_modes_text(bit_of(ReplayMode::none)), "");
  EXPECT_EQ(replay_modes_text(bit_of(ReplayMode::kernel) | bit_of(ReplayMode::iteration)), "kernel replay, iteration replay");
  EXPECT_EQ(cache_controls_text(bit_of(CacheControl::none) | bit_of(CacheControl::all)), "none, all");
}

LaunchCounts counts(std::uint64_t matched, std::uint64_t measured, std::uint64_t skipped = 0) {
  LaunchCounts made;
  made.launches = 100;
  made.matched = matched;
  made.measured = measured;
  made.skipped = skipped;
  made.reason = capture::SkipReason::collective;
  return made;
}

TEST(Incomplete, SaysWhy) {
  const Wanted three{.samples = 3};
  EXPECT_EQ(incomplete(counts(10, 3), three), Incomplete::no);
  EXPECT_EQ(incomplete(counts(2, 2), three), Incomplete::no) << "there were no more";
  EXPECT_EQ(incomplete(counts(10, 2), three), Incomplete::too_few);
  EXPECT_EQ(incomplete(counts(10, 0), three), Incomplete::not_measured);
  EXPECT_EQ(incomplete(counts(10, 0, 10), three), Incomplete::collective);
  EXPECT_EQ(incomplete(counts(10, 1, 2), three), Incomplete::collective);
  EXPECT_EQ(incomplete(counts(0, 0), three), Incomplete::not_matched);
  EXPECT_EQ(incomplete(counts(10, 0), {.measures = false, .samples = 3}), Incomplete::not_asked);
  EXPECT_EQ(incomplete(counts(10, 0), {.samples = 3, .is_bounded = true}), Incomplete::beyond_count);
  EXPECT_EQ(incomplete(counts(10, 0, 10), {.samples = 3, .is_bounded = true}), Incomplete::collective);
  LaunchCounts near = counts(0, 0);
  near.near_missed = 4;
  EXPECT_EQ(incomplete(near, three), Incomplete::near_missed);
  EXPECT_EQ(incomplete(counts(10, 1), Wanted{}), Incomplete::no) << "with --samples all, -c may bound them";
}

TEST(Incomplete, EveryReasonHasItsWords) {
  EXPECT_STREQ(incomplete_text(Incomplete::no), "");
  for (auto why = static_cast<int>(Incomplete::not_matched); why <= static_cast<int>(Incomplete::beyond_count); ++why) {
    const std::string words = incomplete_text(static_cast<Incomplete>(why));
    EXPECT_FALSE(words.empty()) << why;
    EXPECT_EQ(words.find('\''), std::string::npos) << words;
  }
}

TEST(WantedOf, OptionsThatCannotBeReadSayNothing) {
  capture::ProcessRecord process;
  process.options_json = "{no json";
  EXPECT_TRUE(wanted_of(process).measures);
  EXPECT_FALSE(wanted_of(process).samples);
}

TEST(WantedOf, NoneAndSampleMeasureNoLaunchByItself) {
  capture::ProcessRecord process;
  for (const auto& [mode, measures] : {std::pair("none", false), {"sample", false}, {"iteration", true}, {"kernel", true}}) {
    process.options_json = std::string(R"({"replay_mode": ")") + mode + R"("})";
    EXPECT_EQ(wanted_of(process).measures, measures) << mode;
  }
}

}  // namespace
}  // namespace dlkprof::model::provenance_test
