#include "inject/session/ledger.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace dlkprof::inject::ledger_test {
namespace {

using capture::SkipReason;
using select::NameMatch;

capture::LaunchKey key_of(std::uint32_t function) {
  capture::LaunchKey key;
  key.function = function;
  return key;
}

capture::ActivityEvent kernel_activity(std::uint32_t correlation, std::int64_t gpu_ns, std::uint64_t graph_node = 0) {
  return {.correlation = correlation, .start_ns = 1000, .end_ns = 1000 + gpu_ns, .graph_node = graph_node};
}

TEST(Ledger, CountsLaunchesByKey) {
  Ledger ledger;
  const auto first = ledger.launched(key_of(1), NameMatch::yes, true);
  const auto other = ledger.launched(key_of(2), NameMatch::no, false);
  const auto again = ledger.launched(key_of(1), NameMatch::yes, false);
  EXPECT_EQ(first.entry, again.entry);
  EXPECT_NE(first.entry, other.entry);
  EXPECT_EQ(first.occurrence, 0U);
  EXPECT_EQ(again.occurrence, 1U);

  const auto changes = ledger.changes(true);
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->keys.size(), 2U);
  EXPECT_EQ(changes->keys[0].launches, 2U);
  EXPECT_EQ(changes->keys[0].matched, 1U);
  EXPECT_EQ(changes->keys[1].launches, 1U);
  EXPECT_EQ(changes->keys[1].matched, 0U);
  EXPECT_TRUE(changes->timing_complete);
}

TEST(Ledger, EveryFieldOfAKeyTellsConfigurationsApart) {
  Ledger ledger;
  std::vector<capture::LaunchKey> keys(7);
  keys[1].device = 1;
  keys[2].function = 1;
  keys[3].grid.z = 2;
  keys[4].block.y = 2;
  keys[5].cluster.x = 2;
  keys[6].dynamic_shared_bytes = 1;
  for (const auto& key : keys) EXPECT_EQ(ledger.launched(key, NameMatch::yes, true).occurrence, 0U);
  EXPECT_EQ(ledger.changes(false)->keys.size(), keys.size());
}

TEST(Ledger, NearMissesAreThoseThatNoFilterTook) {
  Ledger ledger;
  ledger.launched(key_of(1), NameMatch::near, false);
  ledger.launched(key_of(1), NameMatch::no, false);
  EXPECT_EQ(ledger.changes(false)->keys[0].near_missed, 1U);
}

TEST(Ledger, TellsOnlyWhatChanged) {
  Ledger ledger;
  EXPECT_FALSE(ledger.changes(false));
  ledger.launched(key_of(1), NameMatch::yes, true);
  ledger.launched(key_of(2), NameMatch::yes, true);
  EXPECT_TRUE(ledger.changes(false));
  EXPECT_FALSE(ledger.changes(false));
  ledger.launched(key_of(2), NameMatch::yes, true);
  const auto changes = ledger.changes(false);
  ASSERT_EQ(changes->keys.size(), 1U);
  EXPECT_EQ(changes->keys[0].key, key_of(2));
  EXPECT_EQ(changes->keys[0].launches, 2U);
}

TEST(Ledger, SamplesAreUsedUp) {
  Ledger ledger;
  const auto entry = ledger.launched(key_of(1), NameMatch::yes, true).entry;
  EXPECT_TRUE(ledger.take_sample(entry, 2));
  EXPECT_TRUE(ledger.take_sample(entry, 2));
  EXPECT_FALSE(ledger.take_sample(entry, 2));
  EXPECT_TRUE(ledger.take_sample(entry, std::nullopt));
  EXPECT_EQ(ledger.changes(false)->keys[0].measured, 3U);
}

TEST(Ledger, SampleThatFailedIsGivenBack) {
  Ledger ledger;
  const auto entry = ledger.launched(key_of(1), NameMatch::yes, true).entry;
  ASSERT_TRUE(ledger.take_sample(entry, 1));
  ledger.skipped(entry, SkipReason::failed, true);
  EXPECT_TRUE(ledger.take_sample(entry, 1));
  ledger.skipped(entry, SkipReason::captured, false);
  const auto changes = ledger.changes(false);
  EXPECT_EQ(changes->keys[0].measured, 1U);
  EXPECT_EQ(changes->keys[0].skipped, 2U);
  EXPECT_EQ(changes->keys[0].reason, SkipReason::captured);
}

TEST(Ledger, TimesGoToTheLaunchThatExpectsThem) {
  Ledger ledger;
  const auto entry = ledger.launched(key_of(1), NameMatch::yes, true).entry;
  ledger.expect_time(7, entry);
  ledger.add_time(kernel_activity(8, 1000));  // nobody expects it: measured
  ledger.add_time(kernel_activity(7, 20));
  ledger.add_time(kernel_activity(7, 300));  // has come already
  ledger.add_time({.kind = capture::ActivityKind::copy, .correlation = 7, .start_ns = 1, .end_ns = 2});
  const auto stats = ledger.changes(false)->keys[0];
  EXPECT_EQ(stats.timed, 1U);
  EXPECT_EQ(stats.timed_gpu_ns, 20U);
}

TEST(Ledger, GraphsHaveAnAccountOfTheirOwn) {
  Ledger ledger;
  ledger.graph_launched();
  ledger.add_time(kernel_activity(1, 40, 5));
  ledger.add_time(kernel_activity(1, 2, 6));
  const auto changes = ledger.changes(false);
  EXPECT_TRUE(changes->keys.empty());
  EXPECT_EQ(changes->graph_launches, 1U);
  EXPECT_EQ(changes->graph_timed_gpu_ns, 42U);
}

TEST(Ledger, ThreadsLaunchWhileTimesComeIn) {
  constexpr std::uint32_t kThreads = 4, kLaunches = 2000;
  Ledger ledger;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&ledger, thread] {
      for (std::uint32_t i = 0; i < kLaunches; ++i) {
        const std::uint32_t correlation = thread * kLaunches + i;
        ledger.expect_time(correlation, ledger.launched(key_of(i % 3), NameMatch::yes, true).entry);
        ledger.add_time(kernel_activity(correlation, 1));
      }
    });
  }
  std::uint64_t changes_seen = 0;
  for (int i = 0; i < 100; ++i) changes_seen += ledger.changes(false) ? 1 : 0;
  for (auto& thread : threads) thread.join();
  ledger.launched(key_of(0), NameMatch::no, false);
  ledger.launched(key_of(1), NameMatch::no, false);
  ledger.launched(key_of(2), NameMatch::no, false);
  std::uint64_t launches = 0, timed = 0;
  const auto last = ledger.changes(true);
  for (const auto& stats : last->keys) {
    launches += stats.launches;
    timed += stats.timed_gpu_ns;
  }
  EXPECT_EQ(launches, kThreads * kLaunches + 3);
  EXPECT_EQ(timed, kThreads * kLaunches);
  EXPECT_LE(changes_seen, 100U);
}

}  // namespace
}  // namespace dlkprof::inject::ledger_test
