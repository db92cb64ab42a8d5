#include "model/aggregate/config_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

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

// Shares of elapsed cycles: NVPerf would read the active cycles of each multiprocessor for a share of active ones, where the
// share of them says the same. Of compute shaders' warps: the neighbour tpc__warps_active_realtime counts twice as many where
// there are few, and fewer where there are many (results/2026-11-27-h200/runs.md).
struct WarpShares {
  const char* warps;
  const char* active;
};
constexpr WarpShares kWarpShares[] = {
    {"TPC.TriageCompute.tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed",
     "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {"sm__warps_active.avg.pct_of_peak_sustained_elapsed", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}};
// As much more than there can be may be due to few samples.
constexpr double kMostOfPossible = 1.25;

// None where GPU or function are not described, or the launch is not possible.
std::optional<Occupancy> theoretical(const Timeline& timeline, const Config& config) {
  const capture::FunctionRecord* function = function_of(timeline, config);
  if (function == nullptr || timeline.devices.empty()) return std::nullopt;
  auto device = std::find_if(timeline.devices.begin(), timeline.devices.end(),
                             [&](const Device& one) { return one.record.index == config.key.device; });
  // A process may know its GPU by another number; GPUs of one program are taken for alike.
  if (device == timeline.devices.end()) device = timeline.devices.begin();
  try {
    return theoretical_occupancy(device->record, *function, config.key);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> mean_of(const ConfigCounters& counters, std::string_view metric) {
  const auto found =
      std::find_if(counters.figures.begin(), counters.figures.end(),
                   [metric](const ConfigCounters::Figure& figure) { return std::string_view(figure.metric) == metric; });
  return found == counters.figures.end() ? std::nullopt : std::optional(found->mean);
}

// None where counters do not tell. Samples at the ends of a launch are of its neighbours too, which outweigh a kernel of one
// block: more warps than its grid has, or than fit into the multiprocessors that are active, are not its own.
std::optional<double> achieved_percent(const ConfigCounters& counters, const std::optional<Occupancy>& possible) {
  for (const WarpShares& shares : kWarpShares) {
    const auto warps = mean_of(counters, shares.warps), active = mean_of(counters, shares.active);
    if (!warps || !active || *active <= 0) continue;
    const bool sampled = counters.sampled != nullptr && counters.sampled->contains(shares.warps);
    const double most = possible ? possible->percent * std::min({1.0, possible->waves, *active / 100}) : *active;
    if (sampled && *warps > kMostOfPossible * most) continue;
    return 100 * *warps / *active;
  }
  return std::nullopt;
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
  if (counters.samples > 0) {
    const auto occupancy = theoretical(timeline, timeline.configs[config]);
    if (occupancy) counters.figures.push_back({.metric = kTheoreticalOccupancy, .mean = occupancy->percent});
    const auto achieved = achieved_percent(counters, occupancy);
    if (achieved) counters.figures.push_back({.metric = kAchievedOccupancy, .mean = *achieved});
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
