#include "inject/replay/pass_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace dlkprof::inject::pass_scheduler_test {
namespace {

using Key = PassScheduler::Key;
using Keys = std::vector<Key>;
using Before = PassScheduler::Before;

// Prices of an H200, in ns: basic, of 15 passes, and quick.
constexpr double kLaunchNs = 0.87e6;
constexpr PassScheduler::Stage kBasic{
    .passes = 15, .most_launches = 35, .launch_ns = kLaunchNs, .window_ns = 26e6, .start_stop_ns = 17e6};
constexpr PassScheduler::Stage kQuick{
    .passes = 1, .most_launches = 93, .launch_ns = 75e3, .window_ns = 33e6, .start_stop_ns = 33e6};

// A profiler that goes through its passes by itself, and a program that launches.
struct Simulation {
  explicit Simulation(const std::vector<PassScheduler::Stage>& all_stages, std::uint64_t all_wanted = 1)
      : stages(all_stages), wanted(all_wanted), scheduler(all_stages) {}

  void launch(Key key) {
    const Before before = scheduler.before(key, wanted);
    if (before == Before::idle) return;
    if (before == Before::open) open();
    window.push_back(key);
    if (scheduler.is_sample()) samples.insert({key, scheduler.pass().stage * 100 + scheduler.pass().pass});
    if (scheduler.ends_window()) close();
  }
  void launch(const Keys& keys) {
    for (const Key key : keys) launch(key);
  }
  void open() {
    const PassScheduler::Pass pass = scheduler.pass();
    if (!profiled || profiled->stage != pass.stage) profiled = pass, ++profilers;
    profiled->pass = (profiled->pass + scheduler.skips()) % stages[pass.stage].passes;
    EXPECT_EQ(*profiled, pass);
    skips += scheduler.skips();
    spent_ns += static_cast<double>(scheduler.skips()) * stages[pass.stage].start_stop_ns;
    window.clear();
  }
  void close() {
    const PassScheduler::Stage& stage = stages[profiled->stage];
    EXPECT_LE(window.size(), stage.most_launches);
    const double ns = stage.window_ns + stage.launch_ns * static_cast<double>(window.size());
    spent_ns += ns;
    profiled->pass = (profiled->pass + 1) % stage.passes;
    ranges += window.size();
    windows.push_back(window);
    scheduler.end_window(ns);
  }
  // Steps until all is there, or so many.
  int steps(const Keys& step, int most) {
    for (int made = 1; made <= most; ++made) {
      launch(step);
      if (scheduler.incomplete() == 0) return made;
    }
    return most + 1;
  }

  std::vector<PassScheduler::Stage> stages;
  std::uint64_t wanted;
  PassScheduler scheduler;
  std::optional<PassScheduler::Pass> profiled;
  Keys window;
  std::vector<Keys> windows;
  std::set<std::pair<Key, std::size_t>> samples;
  std::size_t ranges = 0, skips = 0, profilers = 0;
  double spent_ns = 0;
};

void append(Keys& keys, Key first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) keys.push_back(first + i);
}

// 16 blocks in 4 groups, whose first blocks are of their own; forward, backward in the opposite order, and an optimizer: 220
// configurations in 632 launches.
Keys resnet_step() {
  Keys step;
  std::vector<std::pair<Key, bool>> blocks;
  for (const std::size_t count : {3, 4, 6, 3}) {
    const Key group = blocks.empty() ? 0 : blocks.back().first + 25;
    blocks.emplace_back(group, true);
    for (std::size_t i = 1; i < count; ++i) blocks.emplace_back(group + 20, false);
  }
  append(step, 180, 20);
  for (const auto& [key, is_first] : blocks) append(step, key, is_first ? 12 : 9);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const std::size_t distinct = block->second ? 8 : 16;
    for (std::size_t i = 0; i < 26; ++i) step.push_back(block->first + (block->second ? 12 : 9) + i % distinct);
  }
  for (std::size_t i = 0; step.size() < 632; ++i) step.push_back(200 + i % 20);
  return step;
}

// 8 layers alike of 60 configurations, and 40 others, in 1063 launches.
Keys llama_step() {
  Keys step;
  append(step, 60, 20);
  for (int layer = 0; layer < 8; ++layer) {
    for (Key i = 0; i < 50; ++i) step.push_back(i * 30 / 50);
  }
  for (int layer = 0; layer < 8; ++layer) {
    for (Key i = 0; i < 78; ++i) step.push_back(30 + i * 30 / 78);
  }
  for (std::size_t i = 0; step.size() < 1063; ++i) step.push_back(80 + i % 20);
  return step;
}

TEST(PassScheduler, OnePassMeasuresWhatComes) {
  Simulation program({{.passes = 1, .most_launches = 4, .launch_ns = 1, .window_ns = 6, .start_stop_ns = 6}});
  program.launch({1, 2, 3, 1, 1, 1, 4, 5, 5, 5});
  EXPECT_THAT(program.windows, testing::ElementsAre(Keys{1, 2, 3, 1}, Keys{4, 5, 5, 5}));
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
}

TEST(PassScheduler, AWindowEndsAfterLaunchesOfNoUse) {
  Simulation program({{.passes = 1, .most_launches = 100, .launch_ns = 1, .window_ns = 6, .start_stop_ns = 6}});
  program.launch({1, 2, 1, 1, 3, 1, 2, 1, 2});
  EXPECT_THAT(program.windows, testing::ElementsAre(Keys{1, 2, 1, 1, 3, 1, 2, 1}));
}

TEST(PassScheduler, OnePassMeasuresAllLaunches) {
  Simulation program({{.passes = 1, .most_launches = 4, .launch_ns = 1, .window_ns = 6, .start_stop_ns = 6}},
                     PassScheduler::kAll);
  program.launch({1, 1, 1, 2, 1, 1, 1, 2});
  EXPECT_EQ(program.ranges, 8U);
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
}

TEST(PassScheduler, WhatIsNotWantedOpensNoWindow) {
  PassScheduler scheduler({kBasic});
  EXPECT_EQ(scheduler.before(1, 0), Before::idle);
  EXPECT_EQ(scheduler.before(2, 1), Before::open);
  EXPECT_TRUE(scheduler.is_sample());
  EXPECT_EQ(scheduler.before(1, 0), Before::inside);
  EXPECT_FALSE(scheduler.is_sample());
  scheduler.end_window(1);
  EXPECT_EQ(scheduler.incomplete(), 1U);
}

TEST(PassScheduler, AWindowIsNotOpenedWhereThereIsNoRoom) {
  PassScheduler scheduler({kBasic});
  EXPECT_EQ(scheduler.before(1, 1, false), Before::idle);
  EXPECT_EQ(scheduler.before(1, 1, true), Before::open);
}

TEST(PassScheduler, EachPassComesFromAnotherLaunch) {
  Simulation program({kBasic});
  EXPECT_EQ(program.steps({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 20), 17);
  EXPECT_EQ(program.samples.size(), 15U * 20);
  EXPECT_EQ(program.skips, 0U);
  EXPECT_EQ(program.profilers, 1U);
  EXPECT_TRUE(program.scheduler.complete(1));
  EXPECT_FALSE(program.scheduler.complete(99));
}

// A segment of the step would meet the same pass in each.
TEST(PassScheduler, StepsOfAsManyWindowsAsPasses) {
  Keys step;
  append(step, 0, 15 * kBasic.most_launches);
  Simulation program({kBasic});
  EXPECT_LE(program.steps(step, 30), 16);
  EXPECT_LE(program.skips, 30U);
}

TEST(PassScheduler, OrderDoesNotMatter) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  Simulation program({kBasic}, 3);
  for (int i = 0; i < 25'000; ++i) program.launch(random() % 50);
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  EXPECT_EQ(program.samples.size(), 15U * 50);
}

// Sequences of 40 launches of lengths at random, and 60 launches that are always the same.
TEST(PassScheduler, ShapesAtRandom) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  Simulation program({kBasic});
  std::vector<int> launches(3000);
  for (int layer = 0; layer < 480; ++layer) {
    Keys keys;
    append(keys, static_cast<Key>(std::exp2(static_cast<double>(random() % 1000) / 200)) * 40, 40);
    append(keys, 2000, 60);
    program.launch(keys);
    for (const Key key : keys) ++launches[key];
  }
  int often = 0, incomplete = 0;
  for (Key key = 0; key < launches.size(); ++key) {
    if (launches[key] < 20) continue;
    ++often;
    if (!program.scheduler.complete(key)) ++incomplete;
  }
  EXPECT_LE(incomplete * 50, often);
}

TEST(PassScheduler, StepsOfAConvolutionalNetwork) {
  Simulation program({kBasic});
  const Keys step = resnet_step();
  ASSERT_EQ(step.size(), 632U);
  ASSERT_EQ(std::set<Key>(step.begin(), step.end()).size(), 220U);
  for (int i = 0; i < 25; ++i) program.launch(step);
  EXPECT_LE(program.scheduler.incomplete(), 220U / 15);
  EXPECT_LE(program.steps(step, 40), 40);
  EXPECT_LE(program.ranges, 15U * 220 * 3 / 2);
  EXPECT_LE(program.spent_ns, 18e9);
}

TEST(PassScheduler, StepsOfLayersAlike) {
  Simulation program({kBasic});
  EXPECT_LE(program.steps(llama_step(), 40), 40);
  EXPECT_LE(program.spent_ns, 16e9);
}

TEST(PassScheduler, TheFirstOfTwoStagesComesFirst) {
  Simulation program({kQuick, kBasic});
  Keys step;
  append(step, 0, 400);
  program.launch(step);
  for (Key key = 0; key < 400; ++key) EXPECT_EQ(program.samples.count({key, 0}), 1U) << key;
  EXPECT_EQ(program.profilers, 1U);
  EXPECT_LE(program.steps(step, 40), 40);
  EXPECT_EQ(program.profilers, 2U);
  EXPECT_EQ(program.samples.size(), 16U * 400);
}

// New ones come with each step. Changing to and fro takes no more than a tenth of the time.
TEST(PassScheduler, NewConfigurationsBringTheFirstStageBack) {
  Simulation program({kQuick, kBasic});
  Keys step;
  append(step, 0, 300);
  for (Key i = 0; i < 300; ++i) {
    program.launch(step);
    Keys fresh;
    append(fresh, 1000 + i * 5, 5);
    program.launch(fresh);
    program.launch(fresh);
  }
  EXPECT_TRUE(program.scheduler.complete(0));
  EXPECT_GT(program.profilers, 2U);
  EXPECT_LE(static_cast<double>(program.profilers - 1) * PassScheduler::kChangeNs,
            program.spent_ns * PassScheduler::kMostChanging + PassScheduler::kChangeNs);
}

// 1 lacks both passes, 2 the last and 3 the first; they follow one another.
std::size_t pass_chosen_where(Key key_that_takes_long) {
  PassScheduler scheduler({{.passes = 2, .most_launches = 3, .launch_ns = 1, .window_ns = 2, .start_stop_ns = 1}});
  for (const Key key : {2, 3}) {
    EXPECT_EQ(scheduler.before(key, 1), Before::open);
    scheduler.end_window(1);
  }
  for (const Key key : {1, 2, 3}) EXPECT_EQ(scheduler.before(key, 0), Before::idle);
  scheduler.lose_place();
  scheduler.set_gpu_time(key_that_takes_long, 1'000'000);
  EXPECT_EQ(scheduler.before(1, 1), Before::open);
  return scheduler.pass().pass;
}

TEST(PassScheduler, WhatTakesMoreGpuTimeComesFirst) {
  EXPECT_EQ(pass_chosen_where(2), 1U);
  EXPECT_EQ(pass_chosen_where(3), 0U);
}

TEST(PassScheduler, PassesBetweenAreSkipped) {
  PassScheduler scheduler({{.passes = 3, .most_launches = 1, .launch_ns = 1, .window_ns = 2, .start_stop_ns = 1}});
  const auto window = [&](Key key) {
    EXPECT_EQ(scheduler.before(key, 1), Before::open);
    scheduler.end_window(1);
  };
  window(1);
  window(2);
  window(3);
  EXPECT_EQ(scheduler.before(2, 1), Before::open);
  EXPECT_EQ(scheduler.pass(), (PassScheduler::Pass{0, 0}));
  EXPECT_EQ(scheduler.skips(), 0U);
  scheduler.end_window(1);
  EXPECT_EQ(scheduler.before(2, 1), Before::open) << "lacks the last one only";
  EXPECT_EQ(scheduler.pass(), (PassScheduler::Pass{0, 2}));
  EXPECT_EQ(scheduler.skips(), 1U);
}

TEST(PassScheduler, AWindowThatFailsHasNoSamples) {
  PassScheduler scheduler({{.passes = 2, .most_launches = 2, .launch_ns = 1, .window_ns = 2, .start_stop_ns = 1}});
  for (unsigned i = 0; i < PassScheduler::kMostFailures; ++i) {
    EXPECT_EQ(scheduler.before(1, 1), Before::open);
    EXPECT_EQ(scheduler.skips(), 0U);
    scheduler.forget_window();
    EXPECT_FALSE(scheduler.complete(1));
  }
  EXPECT_EQ(scheduler.before(1, 1), Before::idle);
  EXPECT_EQ(scheduler.before(2, 1), Before::open);
  EXPECT_EQ(scheduler.incomplete(), 2U);
}

TEST(PassScheduler, KnowsWhatIsStuck) {
  PassScheduler scheduler({kBasic});
  for (std::uint64_t i = 0; i + 1 < PassScheduler::kStuckLaunches; ++i) (void)scheduler.before(1, 1, false);
  EXPECT_FALSE(scheduler.is_stuck(1));
  (void)scheduler.before(1, 1, false);
  EXPECT_TRUE(scheduler.is_stuck(1));
  EXPECT_EQ(scheduler.quiet_for(), 0U);
  (void)scheduler.before(1, 1);
  scheduler.end_window(1);
  EXPECT_FALSE(scheduler.is_stuck(1));
  for (int i = 0; i < 10; ++i) (void)scheduler.before(2, 0);
  EXPECT_EQ(scheduler.quiet_for(), 10U);
}

}  // namespace
}  // namespace dlkprof::inject::pass_scheduler_test
