#include "report/ops/summary_report.h"

#include <gtest/gtest.h>

#include <map>

#include "support/sample_fold.h"

namespace dlkprof::report::system_config_test {
namespace {

std::map<std::string, Cell> config(const model::Timeline& timeline, const std::string& name = "run") {
  const auto rows = system_config(timeline, name);
  return {rows.begin(), rows.end()};
}

TEST(SystemConfig, IsWhatCapturesSay) {
  const auto rows = config(test::sample_timeline());
  EXPECT_EQ(rows.at("Profile Name"), Cell{"run"});
  EXPECT_EQ(rows.at("GPU Name(s)"), Cell{"NVIDIA H200"});
  EXPECT_EQ(rows.at("CUDA Version"), Cell{"13.0"});
  EXPECT_EQ(rows.at("cuDNN Version"), Cell{"9.10"});
  EXPECT_EQ(rows.at("DLProf Version"), Cell{"dlkprof 0.1.0"});
  EXPECT_EQ(rows.at("CPU Model"), Cell{}) << "nobody told";
}

TEST(SystemConfig, WritesCudnnsNumberAsAVersion) {
  model::Timeline timeline = test::sample_timeline();
  for (const auto& [told, shown] : {std::pair{"91900", "9.19.0"}, std::pair{"8902", "8.9.2"}, std::pair{"9.10", "9.10"}}) {
    for (capture::Fact& fact : timeline.facts) {
      if (fact.name == "cudnn.version") fact.value = told;
    }
    EXPECT_EQ(config(timeline).at("cuDNN Version"), Cell{shown}) << told;
  }
}

TEST(SystemConfig, NamesEachKindOfGpuOnce) {
  model::Timeline timeline = test::sample_timeline();
  timeline.devices.push_back(timeline.devices.front());
  timeline.devices.push_back(timeline.devices.front());
  timeline.devices.back().record.name = "NVIDIA L4";
  const auto rows = config(timeline);
  EXPECT_EQ(rows.at("GPU Count"), Cell{std::uint64_t{3}});
  EXPECT_EQ(rows.at("GPU Name(s)"), Cell{"NVIDIA H200, NVIDIA L4"});
}

TEST(SystemConfig, StatesHowFarTheGpusClockMayBeOff) {
  model::Timeline timeline = test::sample_timeline();
  timeline.processes.resize(2, timeline.processes.front());
  timeline.processes[0].gpu_early_ns = 100;
  timeline.processes[1].gpu_early_ns = 300;
  timeline.processes[0].gpu_late_ns = 20;
  timeline.processes[1].gpu_late_ns = -1;
  const auto rows = config(timeline);
  EXPECT_EQ(rows.at("GPU Times Early By At Most (ns)"), Cell{std::int64_t{300}});
  EXPECT_EQ(rows.at("GPU Times Late By At Most (ns)"), Cell{}) << "one process does not know";
}

TEST(SystemConfig, OfNothingIsEmpty) {
  const auto rows = config({}, "");
  EXPECT_FALSE(rows.contains("Profile Name")) << "hidden where it has none";
  EXPECT_EQ(rows.at("CUDA Version"), Cell{});
  EXPECT_EQ(rows.at("DLProf Version"), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::system_config_test
