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

// Ten profiled iterations of 50 ms, in each of which the optimizer steps once and a layer runs twice.
Fold profiled(Timeline& timeline) {
  Fold fold;
  fold.key_nodes_found = 10;
  timeline.strings = {"", "Optimizer.step#SGD.step, op_id = ", "layer"};  // as it stands in captures
  for (std::int64_t i = 0; i <= 10; ++i) {
    const std::int64_t start = i * 50 * kMs;
    fold.iterations.push_back({start, start + 50 * kMs - 1});
    for (const std::uint32_t message : {2U, 1U, 2U}) {
      Range range;
      range.start_ns = start + kMs;
      range.message = message;
      timeline.ranges.push_back(range);
    }
  }
  return fold;
}

TEST(Undisturbed, AreTheStepsOfAMarkerOnceAnIterationInTheirSteadyState) {
  Timeline timeline = with_steps(42);
  const Fold fold = profiled(timeline);
  const auto found = undisturbed_iterations(timeline, fold, 1, 9);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->n, 39U);
  EXPECT_NEAR(found->mean_ns, 11e6, 0.1e6);
  EXPECT_GE(found->median_ns, 10e6);
  EXPECT_LE(found->median_ns, 12e6);
  EXPECT_NEAR(found->deviation_ns, 1e6, 0.1e6);
}

TEST(Undisturbed, AreNotKnownByWhatComesMoreOftenOrNever) {
  for (const char* marker : {"layer", "ProfilerStep#"}) {
    Timeline timeline = with_steps(42, marker);
    const Fold fold = profiled(timeline);
    EXPECT_FALSE(undisturbed_iterations(timeline, fold, 1, 9)) << marker;
  }
}

TEST(Undisturbed, AreNotKnownOfFewStepsOrWithoutIterations) {
  Timeline timeline = with_steps(5);
  const Fold fold = profiled(timeline);
  EXPECT_FALSE(undisturbed_iterations(timeline, fold, 1, 9));
  EXPECT_FALSE(undisturbed_iterations(with_steps(42), {}, 0, 0));
}

}  // namespace
}  // namespace dlkprof::model::undisturbed_test
