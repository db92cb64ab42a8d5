#include "inject/session/timed_launches.h"

#include <gtest/gtest.h>

namespace dlkprof::inject::timed_launches_test {
namespace {

CUevent event(std::uintptr_t number) { return reinterpret_cast<CUevent>(number); }

int times_left_alone(TimedLaunches& timed, Ledger::Entry entry, int launches) {
  int times = 0;
  for (int i = 0; i < launches; ++i) times += timed.leaves_alone(entry) ? 1 : 0;
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
  EXPECT_EQ(times_left_alone(timed, 1, 1000), 57) << "nothing new came before 56 more";
  EXPECT_EQ(times_left_alone(timed, 1, 1000), 0);
}

TEST(TimedLaunches, WhoTimesTheStepsOfALoopHasThemMeasuredFromTheNinthOn) {
  TimedLaunches timed;
  for (int step = 1; step <= 20; ++step) {
    for (Ledger::Entry entry = 0; entry < TimedLaunches::kLaunchesAfterEvent; ++entry) {
      EXPECT_EQ(timed.leaves_alone(entry), step <= 8) << step << " " << entry;
    }
  }
}

TEST(TimedLaunches, AsLongAsNewConfigurationsComeKernelsAreBeingChosen) {
  TimedLaunches timed;
  const Ledger::Entry of_most_algorithms = 0;
  for (Ledger::Entry algorithm = 1; algorithm <= 16; ++algorithm) {
    EXPECT_EQ(times_left_alone(timed, of_most_algorithms, 8), 8);
    EXPECT_EQ(times_left_alone(timed, algorithm, 4), 4);
  }
  for (Ledger::Entry algorithm = 17; algorithm <= 99; ++algorithm) {
    EXPECT_EQ(times_left_alone(timed, of_most_algorithms, 8), 0) << "which has been left alone 128 times";
    EXPECT_EQ(times_left_alone(timed, algorithm, 4), 4);
  }
}

}  // namespace
}  // namespace dlkprof::inject::timed_launches_test
