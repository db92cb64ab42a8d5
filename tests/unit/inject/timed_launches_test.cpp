#include "inject/session/timed_launches.h"

#include <gtest/gtest.h>

namespace dlkprof::inject::timed_launches_test {
namespace {

CUevent event(std::uintptr_t number) { return reinterpret_cast<CUevent>(number); }

// Of the launches `first` to `last` of a configuration, all timed.
int times_left_alone(TimedLaunches& timed, std::uint32_t first, std::uint32_t last) {
  int times = 0;
  for (std::uint32_t occurrence = first; occurrence <= last; ++occurrence) times += timed.leaves_alone(occurrence) ? 1 : 0;
  return times;
}

TEST(TimedLaunches, EventsTakeTimesUnlessTheyWereCreatedWithout) {
  TimedLaunches timed;
  EXPECT_FALSE(timed.is_timing(event(1)));
  timed.created(event(1), CU_EVENT_DEFAULT);
  timed.created(event(2), CU_EVENT_BLOCKING_SYNC);
  timed.created(event(3), CU_EVENT_DISABLE_TIMING);
  EXPECT_TRUE(timed.is_timing(event(1)));
  EXPECT_TRUE(timed.is_timing(event(2)));
  EXPECT_FALSE(timed.is_timing(event(3)));
  timed.created(event(1), CU_EVENT_DISABLE_TIMING);
  EXPECT_FALSE(timed.is_timing(event(1))) << "which lies where another one was";
}

TEST(TimedLaunches, WhoTimesOneKernelHasItMeasuredInTheEnd) {
  TimedLaunches timed;
  EXPECT_EQ(times_left_alone(timed, 0, 999), 57) << "nothing new came before 56 more";
  EXPECT_EQ(times_left_alone(timed, 1000, 1999), 0);
}

TEST(TimedLaunches, WhatWasLaunchedBeforeItIsTimedIsNotBeingChosen) {
  TimedLaunches timed;
  EXPECT_EQ(times_left_alone(timed, 10, 99), 0);
  EXPECT_EQ(times_left_alone(timed, 3, 99), 5);
}

TEST(TimedLaunches, WhoTimesTheStepsOfALoopHasThemMeasuredFromTheNinthOn) {
  TimedLaunches timed;
  for (std::uint32_t step = 0; step < 20; ++step) {
    for (int i = 0; i < TimedLaunches::kLaunchesAfterEvent; ++i)
      EXPECT_EQ(timed.leaves_alone(step), step < 8) << step << " " << i;
  }
}

TEST(TimedLaunches, AsLongAsNewConfigurationsComeKernelsAreBeingChosen) {
  TimedLaunches timed;
  for (std::uint32_t algorithm = 0; algorithm < 99; ++algorithm) {
    const int of_most_algorithms = times_left_alone(timed, 8 * algorithm, 8 * algorithm + 7);
    EXPECT_EQ(of_most_algorithms, algorithm < 16 ? 8 : 0) << "128 launches in all";
    EXPECT_EQ(times_left_alone(timed, 0, 3), 4) << "of the algorithm's own kernel";
  }
}

}  // namespace
}  // namespace dlkprof::inject::timed_launches_test
