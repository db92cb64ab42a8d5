// What a capture says of measuring: which launches were measured, how, and what became of the others.

#include <cmath>
#include <limits>

#include "model/fold/time_arithmetic.h"
#include "model/timeline/key_counts.h"
#include "model/timeline/timeline_loader.h"

namespace dlkprof::model {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// What this version does not know is none.
template <typename Enum>
Enum known(Enum value, Enum last) {
  return value <= last ? value : Enum::none;
}

LaunchCounts counts_of(const capture::KeyStats& stats) {
  LaunchCounts counts;
  counts.launches = stats.launches;
  counts.matched = stats.matched;
  counts.measured = stats.measured;
  counts.near_missed = stats.near_missed;
  counts.skipped = stats.skipped;
  counts.timed = stats.timed;
  counts.timed_gpu_ns = stats.timed_gpu_ns;
  counts.reason = known(stats.reason, kLastSkipReason);
  return counts;
}

bool is_of_function(const capture::KeyStats& stats) {
  return stats.matched == 0 && stats.measured == 0 && stats.key == key_of_function(stats.key);
}

}  // namespace

std::uint32_t TimelineLoader::kernel_of(const capture::LaunchKey& key) const {
  const auto function = parts_.functions.find(key.function);
  return function == parts_.functions.end() ? kNone : function->second;
}

// Indices by number.
std::map<std::uint32_t, std::uint32_t> TimelineLoader::join_metric_sets() {
  std::map<std::uint32_t, std::uint32_t> indices;
  for (const auto& [number, record] : parts_.metric_sets) {
    indices[number] = static_cast<std::uint32_t>(timeline_.metric_sets.size());
    timeline_.metric_sets.push_back({parts_.process, record});
  }
  return indices;
}

void TimelineLoader::join_measured() {
  const std::map<std::uint32_t, std::uint32_t> sets = join_metric_sets();
  for (const auto& [index, launch] : parts_.launches) {
    const std::uint32_t kernel = kernel_of(launch.key);
    if (kernel == kNone) notices_.count("Measured launches of a function that the capture does not describe");
    const std::uint32_t config = kernels_.config(parts_.process, launch.key, kernel);
    if (launch.values.empty()) continue;  // only its raw counters were kept
    const auto set = parts_.metric_sets.find(launch.metric_set);
    if (set == parts_.metric_sets.end() || set->second.metrics.size() != launch.values.size()) {
      notices_.count("Measurements that do not fit their metric set left out");
      continue;
    }
    std::vector<MeasuredLaunch>& launches = timeline_.measured_launches[config];
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      if (!std::isfinite(launch.values[i])) continue;
      std::vector<double>& values = timeline_.measured[config][set->second.metrics[i]];
      values.resize(launches.size(), kNoValue);
      values.push_back(launch.values[i]);
    }
    launches.push_back({index, launch.occurrence, sets.at(launch.metric_set), launch.passes, known(launch.mode, kLastReplayMode),
                        known(launch.cache_control, kLastCacheControl), launch.start_unix_ns, launch.cost_ns});
  }
}

void TimelineLoader::join_counts() {
  timeline_.processes[parts_.process].ended = parts_.ended;
  std::map<capture::LaunchKey, std::uint64_t> measured;
  for (const auto& [index, launch] : parts_.launches) ++measured[launch.key];
  count_measured(parts_.key_stats, measured);
  std::map<capture::LaunchKey, std::size_t> lines;  // of Timeline::counts
  for (const auto& [key, stats] : parts_.key_stats) {
    LaunchCounts counts = counts_of(stats);
    counts.process = parts_.process;
    counts.device = key.device;
    counts.kernel = kernel_of(key);
    if (!is_of_function(stats)) counts.config = kernels_.config(parts_.process, key, counts.kernel);
    lines[key] = timeline_.counts.size();
    timeline_.counts.push_back(counts);
  }
  count_times(lines);
}

// While there is a timeline the injected library does not sum GPU times itself.
void TimelineLoader::count_times(const std::map<capture::LaunchKey, std::size_t>& lines) {
  for (std::size_t i = parts_.activities; i < timeline_.activities.size(); ++i) {
    const Activity& activity = timeline_.activities[i];
    if (activity.config == kNone || activity.replayed || !is_timed(activity)) continue;
    if (activity.in_graph) {
      timeline_.processes[parts_.process].graph_gpu_ns += static_cast<std::uint64_t>(gpu_ns(activity));
      continue;
    }
    const capture::LaunchKey& key = kernels_.config(activity.config).key;
    auto line = lines.find(key);
    if (line == lines.end()) line = lines.find(key_of_function(key));
    if (line == lines.end()) continue;  // of a capture that was cut before its counts
    LaunchCounts& counts = timeline_.counts[line->second];
    ++counts.timed;
    counts.timed_gpu_ns += static_cast<std::uint64_t>(gpu_ns(activity));
  }
}

}  // namespace dlkprof::model
