// Iterations without the profiler, from the steps that were noted after it had let go.
#include "model/aggregate/undisturbed.h"

#include <gtest/gtest.h>

#include <string>

namespace dlkprof::model::undisturbed_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

Timeline with_steps(int count, const std::string& marker = "Optimizer.step#SGD.step") {
  Timeline timeline;
  timeline.processes.emplace_back();
  std::int64_t now = 5 * kMs;
  for (int i = 0; i < count; ++i) {
    timeline.lone_steps.push_back({0, marker, now});
    now += i < 2 ? 40 * kMs : i % 2 == 0 ? 10 * kMs : 12 * kMs;  // the first ones still feel the profiler's leaving
  }
  return timeline;
}

Fold with_key_node(const std::string& name) {
  Fold fold;
  fold.key_node = name;
  return fold;
}

TEST(Undisturbed, AreTheStepsOfTheKeyNodeInTheirSteadyState) {
  const auto found = undisturbed_iterations(with_steps(42), with_key_node("Optimizer.step#SGD.step"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->n, 39U);
  EXPECT_NEAR(found->mean_ns, 11e6, 0.1e6);
  EXPECT_GE(found->median_ns, 10e6);
  EXPECT_LE(found->median_ns, 12e6);
  EXPECT_NEAR(found->deviation_ns, 1e6, 0.1e6);
}

TEST(Undisturbed, AreNotKnownByAnotherMarker) {
  EXPECT_FALSE(undisturbed_iterations(with_steps(42), with_key_node("ProfilerStep")));
  EXPECT_FALSE(undisturbed_iterations(with_steps(42), with_key_node("")));
}

TEST(Undisturbed, AreNotKnownOfFewSteps) {
  EXPECT_FALSE(undisturbed_iterations(with_steps(5), with_key_node("Optimizer.step#SGD.step")));
  EXPECT_FALSE(undisturbed_iterations({}, with_key_node("Optimizer.step#SGD.step")));
}

}  // namespace
}  // namespace dlkprof::model::undisturbed_test
