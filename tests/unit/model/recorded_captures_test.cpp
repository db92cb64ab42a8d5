// A capture with raw counters: what NVPerf makes of them here, with no GPU, is what it made of them on the H200 where it was
// recorded.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "model/run.h"

namespace dlkprof::model::recorded_captures_test {
namespace {

class RecordedCapture : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static model::Run load(bool evaluate_raw) {
    const auto path = std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests" / "data" / "captures" / GetParam();
    return load_run(path, {.evaluate_raw = evaluate_raw, .cupti_path = {}, .metrics = {}});
  }
};

TEST_P(RecordedCapture, IsWhole) {
  const model::Run run = load(true);
  EXPECT_TRUE(run.end.has_value());
  EXPECT_FALSE(run.read_state.cut);
  EXPECT_EQ(run.read_state.damaged, 0U);
  EXPECT_EQ(run.read_state.unknown, 0U);
  EXPECT_TRUE(run.notices.empty());
  EXPECT_EQ(run.devices.at(0).chip, "GH100");
  EXPECT_GE(run.launches.size(), 9U);
  EXPECT_EQ(run.coverage.measured, run.launches.size());
  EXPECT_GT(run.coverage.near_missed, 0U);
}

TEST_P(RecordedCapture, RawCountersGiveWhatTheGpuMachineStored) {
  const model::Run evaluated = load(true);
  const model::Run stored = load(false);
  ASSERT_EQ(evaluated.launches.size(), stored.launches.size());
  for (std::size_t i = 0; i < stored.launches.size(); ++i) {
    EXPECT_TRUE(evaluated.launches[i].from_raw);
    ASSERT_EQ(evaluated.launches[i].values.size(), stored.launches[i].values.size());
    for (const auto& [metric, value] : stored.launches[i].values) {
      EXPECT_NEAR(evaluated.launches[i].values.at(metric), value, 1e-9 * std::abs(value)) << metric << " of launch " << i;
    }
    EXPECT_GT(stored.launches[i].values.at("gpu__time_duration.sum"), 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kept, RecordedCapture, testing::Values("cifar10_b512_kept.dlkcap"));

}  // namespace
}  // namespace dlkprof::model::recorded_captures_test
