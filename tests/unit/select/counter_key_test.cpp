#include "select/counter_key.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/error.h"

namespace dlkprof::select::counter_key_test {
namespace {

LaunchIdentity launch() {
  LaunchIdentity launch;
  launch.key = {
      .device = 1, .function = 2, .grid = {3, 4, 5}, .block = {6, 7, 8}, .cluster = {2, 1, 1}, .dynamic_shared_bytes = 9};
  launch.name_id = 12;
  launch.context_id = 10;
  launch.stream_id = 11;
  return launch;
}

// `launch()` with one field changed by `change`.
template <typename Change>
LaunchIdentity launch_with(Change change) {
  LaunchIdentity other = launch();
  change(other);
  return other;
}

const auto other_shape = launch_with([](LaunchIdentity& l) { l.key.cluster.x++; });
const auto other_device = launch_with([](LaunchIdentity& l) { l.key.device++; });
const auto other_instance = launch_with([](LaunchIdentity& l) { l.key.function++; });
const auto other_name = launch_with([](LaunchIdentity& l) { l.name_id++; });
const auto other_stream = launch_with([](LaunchIdentity& l) { l.stream_id++; });

bool share(FilterMode mode, const LaunchIdentity& other) {
  return skip_and_count_key(mode, launch()) == skip_and_count_key(mode, other);
}

TEST(SkipAndCountKey, GlobalModeHasOneCounter) {
  for (const auto& other : {other_shape, other_device, other_instance, other_name, other_stream}) {
    EXPECT_TRUE(share(FilterMode::global, other));
  }
}

TEST(SkipAndCountKey, PerGpuTellsDevicesApart) {
  EXPECT_FALSE(share(FilterMode::per_gpu, other_device));
  for (const auto& other : {other_shape, other_instance, other_name, other_stream})
    EXPECT_TRUE(share(FilterMode::per_gpu, other));
}

// As Nsight Compute 2025.3 does: template instances of one function name and size share a counter.
TEST(SkipAndCountKey, PerLaunchConfigGoesByNameAndSize) {
  for (const auto& other : {other_shape, other_device, other_name}) EXPECT_FALSE(share(FilterMode::per_launch_config, other));
  for (const auto& other : {other_instance, other_stream}) EXPECT_TRUE(share(FilterMode::per_launch_config, other));
}

TEST(FilterMode, KnowsItsWords) {
  EXPECT_EQ(parse_filter_mode("global"), FilterMode::global);
  EXPECT_EQ(parse_filter_mode("per-gpu"), FilterMode::per_gpu);
  EXPECT_EQ(parse_filter_mode("per-launch-config"), FilterMode::per_launch_config);
  for (const char* word : {"", "Global", "per_gpu", "per-kernel"}) EXPECT_THROW((void)parse_filter_mode(word), UsageError);
}

TEST(CounterKeyHash, SpreadsKeysThatLookAlike) {
  std::unordered_set<std::size_t> hashes;
  CounterKey key;
  for (key.launch.grid.x = 1; key.launch.grid.x <= 64; ++key.launch.grid.x) {
    for (key.launch.grid.y = 1; key.launch.grid.y <= 64; ++key.launch.grid.y) {
      for (key.launch.device = 0; key.launch.device < 4; ++key.launch.device) hashes.insert(CounterKeyHash()(key));
    }
  }
  EXPECT_EQ(hashes.size(), 64U * 64U * 4U);
}

}  // namespace
}  // namespace dlkprof::select::counter_key_test
