// A capture with raw counters: what NVPerf makes of them here, with no GPU, is what it made of them on the H200 where it was
// recorded.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "capture/reader.h"
#include "model/aggregate/coverage.h"
#include "model/aggregate/measured_launches.h"
#include "model/timeline/raw_counters.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::model::recorded_captures_test {
namespace {

class RecordedCapture : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Timeline load(bool evaluate) {
    const auto path = std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests" / "data" / "captures" / GetParam();
    if (!evaluate) return load_timeline(std::array{path});
    const test::TemporaryDirectory folder;
    RawEvaluator evaluator({}, {});
    return load_timeline(std::array{without_values(path, folder.path())}, &evaluator);
  }

 private:
  // As if profiling had stored the raw counters alone.
  [[nodiscard]] static std::filesystem::path without_values(const std::filesystem::path& path,
                                                            const std::filesystem::path& folder) {
    std::vector<capture::Record> records;
    capture::Reader reader = capture::Reader::open(path);
    while (std::optional<capture::Record> record = reader.next()) {
      if (auto* launch = std::get_if<capture::LaunchRecord>(&*record)) launch->values.clear();
      records.push_back(std::move(*record));
    }
    return test::write_capture(folder, records);
  }
};

TEST_P(RecordedCapture, IsWhole) {
  const Timeline run = load(true);
  EXPECT_TRUE(run.processes[0].ended);
  EXPECT_EQ(run.processes[0].damaged_records, 0U);
  EXPECT_TRUE(run.notices.empty());
  EXPECT_EQ(run.devices.at(0).record.chip, "GH100");
  EXPECT_GE(launches_of(run).size(), 9U);
  EXPECT_EQ(coverage_of(run).measured, launches_of(run).size());
  EXPECT_GT(coverage_of(run).near_missed, 0U);
}

TEST_P(RecordedCapture, RawCountersGiveWhatTheGpuMachineStored) {
  const Timeline evaluated = load(true);
  const Timeline stored = load(false);
  const std::vector<Launch> launches = launches_of(stored);
  ASSERT_EQ(launches_of(evaluated).size(), launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Launch again = launches_of(evaluated)[i];
    EXPECT_TRUE(again.how->evaluated_here);
    EXPECT_FALSE(launches[i].how->evaluated_here);
    const Values here = values_of(evaluated, again);
    const Values there = values_of(stored, launches[i]);
    ASSERT_EQ(here.size(), there.size());
    for (const auto& [metric, value] : there) {
      EXPECT_NEAR(here.at(metric), value, 1e-9 * std::abs(value)) << metric.text() << " of launch " << i;
    }
    EXPECT_GT(there.at("gpu__time_duration.sum"), 0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kept, RecordedCapture, testing::Values("cifar10_b512_kept.dlkcap"));

}  // namespace
}  // namespace dlkprof::model::recorded_captures_test
