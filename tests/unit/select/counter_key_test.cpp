#include "select/counter_key.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "base/error.h"

namespace dlkprof::select {
namespace {

LaunchIdentity launch() {
  LaunchIdentity launch;
  launch.key = {
      .device = 1, .function = 2, .grid = {3, 4, 5}, .block = {6, 7, 8}, .cluster = {2, 1, 1}, .dynamic_shared_bytes = 9};
  launch.context_id = 10;
  launch.stream_id = 11;
  return launch;
}

TEST(InvocationKey, TellsFunctionGridBlockAndSharedMemoryApart) {
  const CounterKey key = invocation_key(launch(), false, false);
  LaunchIdentity other = launch();
  other.key.function++;
  EXPECT_NE(invocation_key(other, false, false), key);
  other = launch();
  other.key.grid.z++;
  EXPECT_NE(invocation_key(other, false, false), key);
  other = launch();
  other.key.block.x++;
  EXPECT_NE(invocation_key(other, false, false), key);
  other = launch();
  other.key.dynamic_shared_bytes++;
  EXPECT_NE(invocation_key(other, false, false), key);
}

TEST(InvocationKey, TellsContextAndStreamApartOnlyWhereAskedFor) {
  LaunchIdentity other = launch();
  other.context_id++;
  EXPECT_EQ(invocation_key(other, false, true), invocation_key(launch(), false, true));
  EXPECT_NE(invocation_key(other, true, false), invocation_key(launch(), true, false));
  other = launch();
  other.stream_id++;
  EXPECT_EQ(invocation_key(other, true, false), invocation_key(launch(), true, false));
  EXPECT_NE(invocation_key(other, false, true), invocation_key(launch(), false, true));
}

TEST(InvocationKey, DoesNotTellDevicesApart) {
  LaunchIdentity other = launch();
  other.key.device++;
  other.key.cluster = {};
  EXPECT_EQ(invocation_key(other, true, true), invocation_key(launch(), true, true));
}

TEST(SkipAndCountKey, FollowsTheMode) {
  const capture::LaunchKey key = launch().key;
  capture::LaunchKey other_shape = key;
  other_shape.cluster.x++;
  capture::LaunchKey other_device = key;
  other_device.device++;
  EXPECT_EQ(skip_and_count_key(FilterMode::global, key), skip_and_count_key(FilterMode::global, other_device));
  EXPECT_EQ(skip_and_count_key(FilterMode::global, key), skip_and_count_key(FilterMode::global, other_shape));
  EXPECT_EQ(skip_and_count_key(FilterMode::per_gpu, key), skip_and_count_key(FilterMode::per_gpu, other_shape));
  EXPECT_NE(skip_and_count_key(FilterMode::per_gpu, key), skip_and_count_key(FilterMode::per_gpu, other_device));
  EXPECT_NE(skip_and_count_key(FilterMode::per_launch_config, key),
            skip_and_count_key(FilterMode::per_launch_config, other_shape));
  EXPECT_NE(skip_and_count_key(FilterMode::per_launch_config, key),
            skip_and_count_key(FilterMode::per_launch_config, other_device));
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
      for (key.stream_id = 0; key.stream_id < 4; ++key.stream_id) hashes.insert(CounterKeyHash()(key));
    }
  }
  EXPECT_EQ(hashes.size(), 64U * 64U * 4U);
}

}  // namespace
}  // namespace dlkprof::select
