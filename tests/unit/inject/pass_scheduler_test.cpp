#include "inject/replay/pass_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace dlkprof::inject::pass_scheduler_test {
namespace {

using Key = PassScheduler::Key;
using Keys = std::vector<Key>;
using Prices = std::vector<PassScheduler::Price>;
using Step = PassScheduler::Step;

// Of an H200, in ns: basic, of 15 passes, and before it the pass of quick.
const std::vector<double> kWindowMs = {53, 48, 22, 22, 22, 22, 3, 3, 3, 3, 26, 3, 3, 3, 3};
constexpr PassScheduler::Price kQuick{.sample_ns = 52e3, .window_ns = 33e6};
constexpr std::size_t kRoom = 47;

Prices basic() {
  Prices prices;
  for (const double ms : kWindowMs) prices.push_back({.sample_ns = 0.88e6, .window_ns = ms * 1e6});
  return prices;
}
Prices quick_and_basic() {
  Prices prices = basic();
  prices.insert(prices.begin(), kQuick);
  return prices;
}

// A program that launches, and a session that measures what is asked for.
struct Simulation {
  explicit Simulation(const Prices& of_passes, std::size_t most = kRoom, bool first_is_urgent = false,
                      std::uint64_t all_wanted = 1)
      : prices(of_passes), wanted(all_wanted), scheduler(of_passes, most, first_is_urgent) {}

  void launch(Key key) {
    ++launches;
    if (!scheduler.launched(key, wanted)) return;
    const Step step = scheduler.take(key);
    if (step == Step::none) return;
    if (step == Step::window) {
      if (!window.empty()) close();
      scheduler.open(key);
    }
    window.push_back(key);
    spent_ns += prices[scheduler.pass()].sample_ns;
    samples[{key, scheduler.pass()}].push_back(launches);
    if (scheduler.full()) close();
  }
  void launch(const Keys& keys) {
    for (const Key key : keys) launch(key);
  }
  void close() {
    spent_ns += prices[scheduler.pass()].window_ns;
    scheduler.end_window(tells ? std::optional(prices[scheduler.pass()].window_ns) : std::nullopt);
    windows.push_back(std::exchange(window, {}));
  }
  // Steps until each key has a sample of each pass, or so many.
  int steps(const Keys& step, int most) {
    const std::size_t all = std::set<Key>(step.begin(), step.end()).size() * prices.size();
    int made = 0;
    while (samples.size() < all && made <= most) launch(step), ++made;
    if (!window.empty()) close();
    return made;
  }
  [[nodiscard]] std::size_t ranges() const {
    std::size_t count = 0;
    for (const auto& [of, when] : samples) count += when.size();
    return count;
  }

  Prices prices;
  std::uint64_t wanted;
  bool tells = true;  // what windows took
  PassScheduler scheduler;
  std::uint64_t launches = 0;
  Keys window;
  std::vector<Keys> windows;
  std::map<std::pair<Key, std::size_t>, std::vector<std::uint64_t>> samples;
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

const Prices kOne = {{.sample_ns = 1, .window_ns = 6}};

TEST(PassScheduler, OnePassMeasuresEachOnce) {
  Simulation program(kOne, 4);
  program.launch({1, 2, 3, 1, 1, 1, 4, 5, 5, 5});
  program.close();
  EXPECT_THAT(program.windows, testing::ElementsAre(Keys{1, 2, 3, 4}, Keys{5}));
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
}

TEST(PassScheduler, OnePassMeasuresAllLaunches) {
  Simulation program(kOne, 4, false, PassScheduler::kAll);
  program.launch({1, 1, 1, 2, 1, 1, 1, 2});
  EXPECT_EQ(program.ranges(), 8U);
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
}

TEST(PassScheduler, WhatIsNotWantedIsNoSample) {
  PassScheduler scheduler(basic(), kRoom, false);
  EXPECT_FALSE(scheduler.launched(1, 0));
  EXPECT_TRUE(scheduler.launched(2, 1));
  EXPECT_EQ(scheduler.take(2), Step::window);
  scheduler.open(2);
  EXPECT_FALSE(scheduler.launched(1, 0));
  scheduler.end_window(1);
  EXPECT_EQ(scheduler.incomplete(), 1U);
}

TEST(PassScheduler, EachPassComesFromAnotherLaunch) {
  Simulation program(basic());
  Keys step;
  append(step, 0, 20);
  EXPECT_LE(program.steps(step, 500), 500);
  EXPECT_EQ(program.ranges(), 15U * 20);
  for (const auto& [of, when] : program.samples) EXPECT_EQ(when.size(), 1U);
  std::set<std::uint64_t> launches;
  for (const auto& [of, when] : program.samples) launches.insert(when.begin(), when.end());
  EXPECT_EQ(launches.size(), 15U * 20);
  EXPECT_TRUE(program.scheduler.complete(1));
  EXPECT_FALSE(program.scheduler.complete(99));
}

// A segment of the step would meet the same pass in each.
TEST(PassScheduler, StepsOfAsManyWindowsAsPasses) {
  Keys step;
  append(step, 0, 15 * kRoom);
  Simulation program(basic());
  EXPECT_LE(program.steps(step, 30), 20);
}

TEST(PassScheduler, OrderDoesNotMatter) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  Simulation program(basic(), kRoom, false, 3);
  for (int i = 0; i < 25'000; ++i) program.launch(random() % 50);
  program.close();
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  EXPECT_EQ(program.samples.size(), 15U * 50);
}

// Sequences of 40 launches of lengths at random, and 60 launches that are always the same.
TEST(PassScheduler, ShapesAtRandom) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  Simulation program(basic());
  std::map<Key, int> launches;
  for (int layer = 0; layer < 480; ++layer) {
    Keys keys;
    append(keys, static_cast<Key>(std::exp2(static_cast<double>(random() % 1000) / 200)) * 40, 40);
    append(keys, 2000, 60);
    program.launch(keys);
    for (const Key key : keys) ++launches[key];
  }
  program.close();
  int often = 0, incomplete = 0;
  for (const auto& [key, count] : launches) {
    if (count < 20) continue;
    ++often;
    if (!program.scheduler.complete(key)) ++incomplete;
  }
  EXPECT_LE(incomplete * 50, often);
}

TEST(PassScheduler, StepsOfAConvolutionalNetwork) {
  Simulation program(basic());
  const Keys step = resnet_step();
  ASSERT_EQ(step.size(), 632U);
  ASSERT_EQ(std::set<Key>(step.begin(), step.end()).size(), 220U);
  for (int i = 0; i < 30; ++i) program.launch(step);
  EXPECT_EQ(program.scheduler.incomplete(), 0U) << "the last window ends once it holds all that is wanted";
  EXPECT_LE(program.steps(step, 60), 60);
  EXPECT_EQ(program.ranges(), 15U * 220);
  EXPECT_LE(program.spent_ns, 9e9);
}

TEST(PassScheduler, StepsOfLayersAlike) {
  Simulation program(basic());
  EXPECT_LE(program.steps(llama_step(), 40), 40);
  EXPECT_LE(program.spent_ns, 5e9);
}

TEST(PassScheduler, TheUrgentPassComesFirst) {
  Simulation program(quick_and_basic(), kRoom, true);
  Keys step;
  append(step, 0, 400);
  program.launch(step);
  for (Key key = 0; key < 400; ++key) EXPECT_EQ((program.samples[{key, 0}]), std::vector<std::uint64_t>{key + 1});
  EXPECT_LE(program.steps(step, 60), 60);
  EXPECT_EQ(program.ranges(), 16U * 400);
}

// New ones come with each step, once or twice.
TEST(PassScheduler, NewConfigurationsAreUrgentAtAnyTime) {
  Simulation program(quick_and_basic(), kRoom, true);
  Keys step;
  append(step, 0, 300);
  for (Key i = 0; i < 100; ++i) {
    program.launch(step);
    Keys fresh;
    append(fresh, 1000 + i * 5, 5);
    const std::uint64_t first = program.launches + 1;
    program.launch(fresh);
    for (const Key key : fresh) EXPECT_EQ((program.samples[{key, 0}]), std::vector<std::uint64_t>{first + (key - fresh[0])});
  }
  EXPECT_TRUE(program.scheduler.complete(0));
}

// As on graphs at random: of a step's 120 launches 40 are of 20 kernels that come again, and among them 80 of 40 that do not.
TEST(PassScheduler, NewConfigurationsInEachStepLeaveTimeForOthers) {
  Simulation program(quick_and_basic(), kRoom, true);
  constexpr Key kAgain = 20;
  Key fresh = kAgain;
  for (int step = 0; step < 120; ++step) {
    for (Key key = 0; key < 2 * kAgain; ++key, ++fresh) {
      program.launch(key % kAgain);
      program.launch({fresh, fresh});
    }
  }
  for (Key key = 0; key < kAgain; ++key) EXPECT_TRUE(program.scheduler.complete(key)) << key;
  Key urgent = 0;
  for (Key key = kAgain; key < fresh; ++key) urgent += program.samples.contains({key, 0}) ? 1 : 0;
  EXPECT_GT(urgent, (fresh - kAgain) * 3 / 4);
}

TEST(PassScheduler, WhatHasTheOtherPassesNeedsNoUrgentOne) {
  PassScheduler scheduler({{.sample_ns = 1, .window_ns = 1}, {.sample_ns = 1, .window_ns = 1}}, 1, true);
  for (const std::size_t pass : {0, 1}) {
    EXPECT_TRUE(scheduler.launched(7, 1));
    EXPECT_EQ(scheduler.take(7), Step::window);
    scheduler.open(7);
    EXPECT_EQ(scheduler.pass(), pass);
    scheduler.end_window(1);
  }
  EXPECT_TRUE(scheduler.complete(7));
  EXPECT_FALSE(scheduler.launched(7, 1));
}

// 1 lacks both passes, 2 the last and 3 the first; 1, 2 and 4, which lacks all, follow one another.
TEST(PassScheduler, TakesThePassThatIsOfMostUse) {
  const Prices two = {{.sample_ns = 1, .window_ns = 1}, {.sample_ns = 1, .window_ns = 1}};
  PassScheduler scheduler(two, 3, false);
  const auto window = [&](Key key) {
    (void)scheduler.launched(key, 1);
    EXPECT_EQ(scheduler.take(key), Step::window);
    scheduler.open(key);
    scheduler.end_window(1);
    return scheduler.pass();
  };
  EXPECT_EQ(window(2), 0U) << "of equals the first";
  for (const Key key : {1, 2}) (void)scheduler.launched(key, 0);
  EXPECT_EQ(window(1), 1U) << "of use to 2 as well";
}

TEST(PassScheduler, AWindowThatFailsHasNoSamples) {
  PassScheduler scheduler(basic(), kRoom, false);
  for (unsigned i = 0; i < PassScheduler::kMostFailures; ++i) {
    EXPECT_TRUE(scheduler.launched(1, 1));
    EXPECT_EQ(scheduler.take(1), Step::window);
    scheduler.open(1);
    scheduler.forget_window();
    EXPECT_FALSE(scheduler.complete(1));
  }
  EXPECT_FALSE(scheduler.launched(1, 1));
  EXPECT_TRUE(scheduler.launched(2, 1));
  EXPECT_EQ(scheduler.incomplete(), 2U);
}

TEST(PassScheduler, GoesByItsPricesWhereNobodyTellsWhatWindowsTook) {
  Simulation told(quick_and_basic(), kRoom, true), untold(quick_and_basic(), kRoom, true);
  untold.tells = false;
  EXPECT_EQ(told.steps(resnet_step(), 60), untold.steps(resnet_step(), 60));
  EXPECT_EQ(told.windows, untold.windows);
}

// Launches of a configuration that has one pass of four, until a window of that pass, in which 40 others are expected, gives way.
int missed_until_a_window(double spent_ns) {
  constexpr double kWindowNs = 1e7;
  PassScheduler scheduler({4, {.sample_ns = 1e6, .window_ns = kWindowNs}}, kRoom, false);
  const auto window = [&](Key key) {
    (void)scheduler.launched(key, 1);
    EXPECT_EQ(scheduler.take(key), Step::window);
    scheduler.open(key);
    return scheduler.pass();
  };
  EXPECT_EQ(window(1), 0U);
  scheduler.end_window(spent_ns);
  for (const std::size_t pass : {1, 2, 3, 0}) {  // after which the first pass costs no more than the others again
    EXPECT_EQ(window(5), pass);
    scheduler.end_window(kWindowNs);
  }
  for (int round = 0; round < 2; ++round) {
    for (Key key = 10; key < 50; ++key) (void)scheduler.launched(key, 1);
  }
  EXPECT_EQ(window(3), 0U);
  for (int missed = 1; missed < 10'000; ++missed) {
    (void)scheduler.launched(1, 1);
    if (scheduler.take(1) == Step::window) return missed;
  }
  return 0;
}

TEST(PassScheduler, WaitsLessForWhatIsLate) {
  const int before = missed_until_a_window(3.9e9), after = missed_until_a_window(4.1e9);
  EXPECT_GT(after, 0);
  EXPECT_GT(before, 3 * after);
}

// As where lengths vary: the kernels of each step are new, but for one, which comes once in all of them.
TEST(PassScheduler, FindsAllPassesOfWhatComesOnceAStepAmongOthers) {
  constexpr int kKernels = 40, kLayers = 6;
  Simulation simulation(quick_and_basic(), 17, true);
  for (Key step = 1; step <= 60; ++step) {
    for (int layer = 0; layer < kLayers; ++layer) {
      for (Key kernel = 0; kernel < kKernels; ++kernel) simulation.launch(kKernels * step + kernel);
      if (layer == kLayers / 2) simulation.launch(0);
    }
  }
  EXPECT_TRUE(simulation.scheduler.complete(0));
}

// As XLA launches a scan: the graph of its body for each time step, another one on the way back, and then a third.
TEST(PassScheduler, GraphsOfALoopAreMadeByNodesWhereTheyAreMeasured) {
  Simulation run(quick_and_basic(), kRoom, true);
  std::set<Key> known;
  int by_nodes = 0, in_vain = 0;
  const auto launch = [&](Key first, Key end) {
    Keys graph(end - first);
    std::iota(graph.begin(), graph.end(), first);
    if (!known.insert(first).second && !run.scheduler.launched_together(graph)) return;
    const std::size_t before = run.ranges();
    run.launch(graph);
    ++by_nodes;
    if (run.ranges() == before) ++in_vain;
  };
  constexpr int kTimeSteps = 63, kSteps = 19;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kTimeSteps; ++i) launch(0, 9);
    for (int i = 0; i < kTimeSteps; ++i) launch(9, 26);
    launch(26, 44);
  }
  EXPECT_EQ(run.scheduler.incomplete(), 0U);
  EXPECT_EQ(in_vain, 0);
  EXPECT_LE(by_nodes, 3 * kSteps) << "of each graph no more than one in a step";
}

TEST(PassScheduler, KnowsWhatIsStuck) {
  PassScheduler scheduler(basic(), kRoom, false);
  for (std::uint64_t i = 0; i + 1 < PassScheduler::kStuckLaunches; ++i) (void)scheduler.launched(1, 1);
  EXPECT_FALSE(scheduler.is_stuck(1));
  (void)scheduler.launched(1, 1);
  EXPECT_TRUE(scheduler.is_stuck(1));
  EXPECT_EQ(scheduler.quiet_for(), 0U);
  scheduler.open(1);
  scheduler.end_window(1);
  EXPECT_FALSE(scheduler.is_stuck(1));
  for (int i = 0; i < 10; ++i) (void)scheduler.launched(2, 0);
  EXPECT_EQ(scheduler.quiet_for(), 10U);
}

}  // namespace
}  // namespace dlkprof::inject::pass_scheduler_test
