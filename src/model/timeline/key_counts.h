// Counts of launches as captures have them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

using KeyCounts = std::map<capture::LaunchKey, capture::KeyStats>;

// Counts are written now and then: what is known of the measured launches is never behind them.
inline void count_measured(KeyCounts& keys, const std::map<capture::LaunchKey, std::uint64_t>& measured) {
  for (const auto& [key, count] : measured) {
    capture::KeyStats& stats = keys[key];
    stats.key = key;
    stats.measured = std::max(stats.measured, count);
    stats.matched = std::max(stats.matched, stats.measured);
    stats.launches = std::max(stats.launches, stats.matched);
  }
}

// The key of all launches of a function on a GPU: configurations of functions that no filter takes are not told apart.
inline capture::LaunchKey key_of_function(const capture::LaunchKey& key) {
  return {.device = key.device, .function = key.function};
}

}  // namespace dlkprof::model
