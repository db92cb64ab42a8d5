#include "model/aggregate/config_counters.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "support/diagnosed_run.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::config_counters_test {
namespace {

constexpr const char* kWarps = "TPC.TriageCompute.tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kActive = "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed";

struct Share {
  bool sampled = true;
  double warps = 0;
  std::optional<double> active{};
};

// Of a kernel that has so many blocks of 128 threads on an H200: 4 warps of the 64 that each of its 132 multiprocessors can hold.
std::optional<double> achieved(std::uint32_t blocks, const Share& share) {
  test::TimelineBuilder builder;
  builder.launch("reduce", 0, 1000, 11'000);
  const auto add = [&](const char* metric, double value) {
    if (share.sampled) builder.sampled("reduce", metric, {.samples = 200, .launches = 90, .mean = value});
    if (!share.sampled) builder.measured("reduce", metric, {value});
  };
  add(kWarps, share.warps);
  if (share.active) add(kActive, *share.active);
  test::DiagnosedRun run(builder);
  run.launched("reduce", {blocks, 1, 1}, {128, 1, 1});
  const MetricMap<double> values = counters_of_config(run.timeline(), 0).values();
  EXPECT_EQ(values.at(kWarps), share.warps);
  const auto found = values.find(kAchievedOccupancy);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

TEST(ConfigCounters, HaveTheOccupancyThatSharesOfElapsedCyclesTell) {
  EXPECT_DOUBLE_EQ(achieved(132, {.warps = 6, .active = 96}).value(), 6.25);
  EXPECT_DOUBLE_EQ(achieved(132, {.sampled = false, .warps = 6, .active = 96}).value(), 6.25);
  EXPECT_DOUBLE_EQ(achieved(100'000, {.warps = 90, .active = 100}).value(), 90);
  EXPECT_EQ(achieved(132, {.warps = 6}), std::nullopt);
  EXPECT_EQ(achieved(132, {.warps = 0, .active = 0}), std::nullopt);
}

TEST(ConfigCounters, HaveNoOccupancyOfWarpsThatCannotBeTheKernels) {
  EXPECT_NEAR(achieved(1, {.warps = 0.044, .active = 0.7}).value(), 6.3, 0.1) << "one block: 4 of 8,448 warps";
  EXPECT_EQ(achieved(1, {.warps = 0.5, .active = 0.7}), std::nullopt);
  EXPECT_EQ(achieved(132, {.warps = 12, .active = 96}), std::nullopt);
  EXPECT_EQ(achieved(100'000, {.warps = 40, .active = 20}), std::nullopt) << "more than the active multiprocessors can hold";
  EXPECT_TRUE(achieved(1, {.sampled = false, .warps = 0.5, .active = 0.7})) << "counters of a launch are its own";
}

}  // namespace
}  // namespace dlkprof::model::config_counters_test
