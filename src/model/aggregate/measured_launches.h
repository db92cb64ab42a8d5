// The launches that were measured, one by one and together with those that were measured alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/aggregate/metric_map.h"
#include "model/aggregate/provenance.h"
#include "model/aggregate/spread.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Where a measured launch stands in its timeline, which outlives it.
struct Launch {
  std::uint32_t config = 0;  // index into Timeline::configs
  std::size_t position = 0;  // in the values of Timeline::measured[config]
  const MeasuredLaunch* how = nullptr;

  [[nodiscard]] Conditions conditions() const { return {how->replay_mode, how->cache_control, how->metric_set, how->passes}; }
};

// By process, and within it in the order of the program.
[[nodiscard]] std::vector<Launch> launches_of(const Timeline& timeline);

// Metric -> value; absent where none came.
using Values = MetricMap<double>;
[[nodiscard]] Values values_of(const Timeline& timeline, const Launch& launch);

// The launches of a configuration that were measured under the same conditions.
struct AlikeLaunches {
  std::uint64_t launches = 0;
  std::map<std::string, Spread> values;  // by metric
  Spread clock_hz;
};
using AlikeTable = std::map<std::pair<std::uint32_t, Conditions>, AlikeLaunches>;  // by configuration
[[nodiscard]] AlikeTable alike_launches(const Timeline& timeline);

}  // namespace dlkprof::model
