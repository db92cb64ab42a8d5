// Which messages are noted as steps, and how many of them.
#include "inject/timeline/step_clock.h"

#include <gtest/gtest.h>

#include <string>

namespace dlkprof::inject::step_clock_test {
namespace {

TEST(StepClock, NotesWhatMarksSteps) {
  StepClock clock;
  EXPECT_TRUE(clock.tick("Optimizer.step#SGD.step"));
  EXPECT_TRUE(clock.tick("dlkprof:step"));
  EXPECT_TRUE(clock.tick("Optimizer.step#SGD.step"));
  EXPECT_FALSE(clock.tick("aten::mm"));
  EXPECT_FALSE(clock.tick(""));
  EXPECT_FALSE(clock.tick("steps"));
  const auto steps = clock.steps();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].marker, "Optimizer.step#SGD.step");
  ASSERT_EQ(steps[0].times_ns.size(), 2U);
  EXPECT_LE(steps[0].times_ns[0], steps[0].times_ns[1]);
}

TEST(StepClock, TakesNumberedStepsForOneMarker) {
  StepClock clock;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(clock.tick("ProfilerStep#" + std::to_string(i)));
  ASSERT_EQ(clock.steps().size(), 1U);
  EXPECT_EQ(clock.steps()[0].times_ns.size(), 3U);
}

TEST(StepClock, IsBounded) {
  StepClock clock;
  for (std::size_t i = 0; i < StepClock::kMostSteps + 10; ++i) EXPECT_TRUE(clock.tick("step"));
  for (std::size_t i = 0; i < StepClock::kMostMarkers + 10; ++i) {
    EXPECT_TRUE(clock.tick("Optimizer.step#" + std::to_string(i)));
  }
  EXPECT_EQ(clock.steps().size(), StepClock::kMostMarkers);
  EXPECT_EQ(clock.steps()[0].times_ns.size(), StepClock::kMostSteps);
}

}  // namespace
}  // namespace dlkprof::inject::step_clock_test
