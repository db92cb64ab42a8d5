#include "model/fold/lost_times.h"

#include <gtest/gtest.h>

#include "support/timeline_builder.h"

namespace dlkprof::model::lost_times_test {
namespace {

// Launches called at 10, 20, ... of which the first `timed` have GPU times.
Timeline timeline_of(int launches, int timed, bool ended = false) {
  test::TimelineBuilder builder;
  for (int i = 1; i <= launches; ++i) {
    const std::uint32_t call = builder.call("cudaLaunchKernel_v7000", 10 * i, 10 * i + 5);
    if (i <= timed) builder.activity(call, "gemm", 10 * i + 6, 10 * i + 9);
  }
  Timeline timeline = builder.build();
  timeline.processes.front().ended = ended;
  return timeline;
}

TEST(LostTimes, BeginWithTheFirstLaunchThatHasNone) {
  EXPECT_EQ(times_lost_from_ns(timeline_of(5, 3)), 40);
  EXPECT_EQ(times_lost_from_ns(timeline_of(5, 0)), 10);
}

TEST(LostTimes, AreNoneWhereAllAreThereOrTheCaptureWasClosed) {
  EXPECT_EQ(times_lost_from_ns(timeline_of(5, 5)), kAllTimed);
  EXPECT_EQ(times_lost_from_ns(timeline_of(5, 3, true)), kAllTimed) << "it failed";
}

TEST(LostTimes, AreNotThoseOfLaunchesBeforeTheLastTimed) {
  Timeline timeline = timeline_of(5, 5);
  timeline.activities.erase(timeline.activities.begin() + 1);
  EXPECT_EQ(times_lost_from_ns(timeline), kAllTimed) << "dropped by itself";
}

TEST(LostTimes, OfMeasuredLaunchesSayNothingOfThoseBetween) {
  Timeline timeline = timeline_of(5, 5);
  for (std::size_t i = 2; i < 5; ++i) timeline.activities[i].replayed = true;
  timeline.activities.erase(timeline.activities.begin() + 3);
  EXPECT_EQ(times_lost_from_ns(timeline), 40) << "figures of the last are of replays";
}

}  // namespace
}  // namespace dlkprof::model::lost_times_test
