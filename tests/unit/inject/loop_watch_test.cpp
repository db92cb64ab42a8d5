// How often a loop has gone round, by how often its configurations were launched.
#include "inject/session/loop_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace dlkprof::inject::loop_watch_test {
namespace {

TEST(RoundsOf, AreThoseOfWhatIsLaunchedOnceInEach) {
  EXPECT_EQ(rounds_of({}), 0U);
  EXPECT_EQ(rounds_of({0, 0}), 0U);
  EXPECT_EQ(rounds_of({40, 10, 80, 10}), 10U);
}

TEST(RoundsOf, WhatIsOfNoLoopDoesNotCount) {
  EXPECT_EQ(rounds_of({3, 2000, 1000, 1}), 1000U) << "a validation and a checkpoint";
  EXPECT_EQ(rounds_of({3, 20, 10}), 3U) << "too often to be left out";
}

class LoopWatchTest : public ::testing::Test {
 protected:
  void launch(std::uint32_t function, int times = 1) {
    capture::LaunchKey key;
    key.function = function;
    for (int i = 0; i < times; ++i) (void)ledger.launched(key, select::NameMatch::yes, true);
  }

  Ledger ledger;
};

TEST_F(LoopWatchTest, CountsFromWhereAllIsMeasured) {
  LoopWatch watch(ledger, 10);
  launch(1, 100);
  EXPECT_FALSE(watch.is_due(false));
  EXPECT_FALSE(watch.is_due(true)) << "begins here";
  launch(1, 9);
  EXPECT_FALSE(watch.is_due(true));
  launch(1);
  launch(2, 10);  // not known before
  EXPECT_TRUE(watch.is_due(true));
}

TEST_F(LoopWatchTest, BeginsAnewWhereSomethingNewIsMeasured) {
  LoopWatch watch(ledger, 10);
  EXPECT_FALSE(watch.is_due(true));
  launch(1, 10);
  EXPECT_FALSE(watch.is_due(false));
  EXPECT_FALSE(watch.is_due(true));
  launch(1, 9);
  EXPECT_FALSE(watch.is_due(true));
}

TEST_F(LoopWatchTest, OfNoRoundsIsNeverDue) {
  LoopWatch watch(ledger, 0);
  EXPECT_FALSE(watch.is_due(true));
  launch(1, 1000);
  EXPECT_FALSE(watch.is_due(true));
}

}  // namespace
}  // namespace dlkprof::inject::loop_watch_test
