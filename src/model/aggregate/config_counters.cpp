#include "model/aggregate/config_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "model/aggregate/occupancy.h"
#include "model/aggregate/provenance.h"
#include "model/aggregate/reliable.h"

namespace dlkprof::model {
namespace {

ConfigCounters::Figure figure_of(const std::string& metric, const std::vector<double>& values, bool& unreliable) {
  ConfigCounters::Figure figure{.metric = metric};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;  // none came of that launch
    if (is_unreliable(metric, value)) {
      unreliable = true;
      continue;
    }
    figure.sum += value;
    ++figure.launches;
  }
  figure.mean = figure.sum / static_cast<double>(figure.launches);
  return figure;
}

// None where GPU or function are not described, or the launch is not possible.
std::optional<double> theoretical_percent(const Timeline& timeline, const Config& config) {
  const capture::FunctionRecord* function = function_of(timeline, config);
  if (function == nullptr || timeline.devices.empty()) return std::nullopt;
  auto device = std::find_if(timeline.devices.begin(), timeline.devices.end(),
                             [&](const Device& one) { return one.record.index == config.key.device; });
  // A process may know its GPU by another number; GPUs of one program are taken for alike.
  if (device == timeline.devices.end()) device = timeline.devices.begin();
  try {
    return theoretical_occupancy(device->record, *function, config.key).percent;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string unreliable_text(std::size_t passes) {
  if (passes < 2) return "above 100 %: its counters disagree, as the kernel is too short for them";
  return fmt::format("above 100 %: the kernel is too short for {} passes, and counters of different passes disagree", passes);
}

MetricMap<double> ConfigCounters::values() const {
  MetricMap<double> values;
  for (const Figure& figure : figures) values.emplace(figure.metric, figure.mean);
  return values;
}

ConfigCounters counters_of_config(const Timeline& timeline, std::uint32_t config) {
  ConfigCounters counters;
  const auto measured = timeline.measured.find(config);
  if (config == kNone || measured == timeline.measured.end()) return counters;
  if (const auto sampled = timeline.sampled.find(config); sampled != timeline.sampled.end()) {
    counters.sampled = &sampled->second;
    for (const auto& [metric, figure] : sampled->second) counters.samples = std::max(counters.samples, figure.launches);
  }
  for (const auto& [metric, values] : measured->second) {
    counters.samples = std::max<std::uint64_t>(counters.samples, values.size());
    bool unreliable = false;
    ConfigCounters::Figure figure = figure_of(metric, values, unreliable);
    if (unreliable) counters.unreliable.push_back(&metric);
    if (figure.launches == 0 || !std::isfinite(figure.mean)) continue;
    if (counters.sampled != nullptr && counters.sampled->contains(metric)) {
      figure.sum = 0;
      figure.launches = 0;
    }
    counters.figures.push_back(figure);
  }
  if (const auto percent = theoretical_percent(timeline, timeline.configs[config]); percent && counters.samples > 0) {
    counters.figures.push_back({.metric = kTheoreticalOccupancy, .mean = *percent});
  }
  if (const auto launches = timeline.measured_launches.find(config); launches != timeline.measured_launches.end()) {
    for (const MeasuredLaunch& launch : launches->second) {
      counters.replay_modes |= bit_of(launch.replay_mode);
      counters.cache_controls |= bit_of(launch.cache_control);
    }
  }
  return counters;
}

}  // namespace dlkprof::model
