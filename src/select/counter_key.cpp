#include "select/counter_key.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <type_traits>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::select {

std::size_t CounterKeyHash::operator()(const CounterKey& key) const noexcept {
  static_assert(std::has_unique_object_representations_v<CounterKey>, "padding would make equal keys differ");
  using Words = std::array<std::uint32_t, sizeof(CounterKey) / sizeof(std::uint32_t)>;
  constexpr std::uint64_t kOddMultiplier = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
  std::uint64_t hash = 0;
  for (const std::uint32_t word : std::bit_cast<Words>(key)) hash = (std::rotl(hash, 5) ^ word) * kOddMultiplier;
  return hash ^ (hash >> 32U);
}

FilterMode parse_filter_mode(const std::string& word) {
  if (word == "global") return FilterMode::global;
  if (word == "per-gpu") return FilterMode::per_gpu;
  if (word == "per-launch-config") return FilterMode::per_launch_config;
  throw UsageError(fmt::format("--filter-mode {}", printable(word)), "no such mode", "Use global, per-gpu or per-launch-config.");
}

CounterKey skip_and_count_key(FilterMode mode, const LaunchIdentity& launch) {
  CounterKey key;
  if (mode == FilterMode::per_gpu) key.launch.device = launch.key.device;
  if (mode == FilterMode::per_launch_config) {
    key.launch = launch.key;
    key.launch.function = launch.name_id;
  }
  return key;
}

}  // namespace dlkprof::select
