#include "model/aggregate/measured_launches.h"

#include <algorithm>
#include <cmath>

namespace dlkprof::model {

std::vector<Launch> launches_of(const Timeline& timeline) {
  std::vector<Launch> all;
  for (const auto& [config, launches] : timeline.measured_launches) {
    for (std::size_t i = 0; i < launches.size(); ++i) all.push_back({config, i, &launches[i]});
  }
  const auto key = [&timeline](const Launch& launch) {
    return std::pair(timeline.configs[launch.config].process, launch.how->launch_index);
  };
  std::sort(all.begin(), all.end(), [&key](const Launch& a, const Launch& b) { return key(a) < key(b); });
  return all;
}

Values values_of(const Timeline& timeline, const Launch& launch) {
  Values found;
  const auto metrics = timeline.measured.find(launch.config);
  if (metrics == timeline.measured.end()) return found;
  for (const auto& [metric, values] : metrics->second) {
    if (launch.position < values.size() && std::isfinite(values[launch.position])) found[metric] = values[launch.position];
  }
  return found;
}

AlikeTable alike_launches(const Timeline& timeline) {
  AlikeTable table;
  for (const Launch& launch : launches_of(timeline)) {
    AlikeLaunches& alike = table[{launch.config, launch.conditions()}];
    ++alike.launches;
    for (const auto& [metric, value] : values_of(timeline, launch)) alike.values[metric.text()].add(value);
    if (const auto clock = clock_hz(timeline, launch.config, launch.position)) alike.clock_hz.add(*clock);
  }
  return table;
}

}  // namespace dlkprof::model
