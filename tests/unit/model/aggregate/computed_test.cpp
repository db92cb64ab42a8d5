#include "model/aggregate/computed.h"

#include <gtest/gtest.h>

#include <set>

#include "support/sample_capture.h"

namespace dlkprof::model::computed_test {
namespace {

Timeline described() {
  Timeline timeline;
  timeline.processes.resize(1);
  timeline.processes[0].devices = {{0, 0}};
  timeline.devices = {{test::h200()}};
  timeline.functions = {{0, test::function(1, "", 64)}};
  timeline.functions[0].record.static_shared_bytes = 2048;
  return timeline;
}

Config launched(const capture::LaunchKey& key) { return {.process = 0, .key = key}; }

double number(const std::map<std::string, FigureValue>& figures, const std::string& name) {
  return std::get<double>(figures.at(name));
}

TEST(ComputedFigures, AreThoseOfTheLaunch) {
  const auto figures = compute_figures(described(), launched(test::key(1, {64, 16, 2}, {32, 8, 1}, 16384)));
  EXPECT_EQ(number(figures, "grid_size"), 2048);
  EXPECT_EQ(number(figures, "block_size"), 256);
  EXPECT_EQ(number(figures, "threads"), 524288);
  EXPECT_EQ(number(figures, "cluster_size"), 1);
  EXPECT_EQ(number(figures, "registers_per_thread"), 64);
  EXPECT_EQ(number(figures, "static_shared_bytes"), 2048);
  EXPECT_EQ(number(figures, "dynamic_shared_bytes"), 16384);
  EXPECT_EQ(number(figures, "driver_shared_bytes"), 1024);
  // 64 registers: 8 warps a partition, 32 in all, 4 blocks of 8.
  EXPECT_EQ(number(figures, "block_limit_registers"), 4);
  // 2 + 16 + 1 KB a block, of 228 KB: 12.
  EXPECT_EQ(number(figures, "block_limit_shared"), 12);
  EXPECT_EQ(number(figures, "theoretical_occupancy_pct"), 50);
  EXPECT_EQ(number(figures, "theoretical_warps_per_sm"), 32);
  EXPECT_DOUBLE_EQ(number(figures, "waves_per_sm"), 2048.0 / (132 * 4));
  EXPECT_EQ(std::get<std::string>(figures.at("occupancy_limiter")), "registers");
}

TEST(ComputedFigures, EveryOneOfThemHasAColumn) {
  std::set<std::string> columns;
  for (const ComputedFigure& figure : computed_figures()) EXPECT_TRUE(columns.insert(figure.name).second) << figure.name;
  const auto figures = compute_figures(described(), launched(test::key(1, {1, 1, 1}, {32, 1, 1})));
  EXPECT_EQ(figures.size(), columns.size());
  for (const auto& [name, value] : figures) EXPECT_TRUE(columns.contains(name)) << name;
}

TEST(ComputedFigures, AreAbsentWhereTheCaptureSaysTooLittle) {
  Timeline run = described();
  run.processes[0].devices.clear();
  const auto without_device = compute_figures(run, launched(test::key(1, {1, 1, 1}, {32, 1, 1})));
  EXPECT_TRUE(without_device.contains("registers_per_thread"));
  EXPECT_FALSE(without_device.contains("theoretical_occupancy_pct"));

  const auto without_function = compute_figures(described(), launched(test::key(99, {1, 1, 1}, {32, 1, 1})));
  EXPECT_TRUE(without_function.contains("grid_size"));
  EXPECT_FALSE(without_function.contains("registers_per_thread"));
  EXPECT_FALSE(without_function.contains("occupancy_limiter"));

  const auto impossible = compute_figures(described(), launched(test::key(1, {1, 1, 1}, {5000, 1, 1})));
  EXPECT_FALSE(impossible.contains("theoretical_occupancy_pct"));
}

}  // namespace
}  // namespace dlkprof::model::computed_test
