// What a capture says of measuring: which launches were measured, how, and what became of the others.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "model/fold/time_arithmetic.h"
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

// Counts are written now and then: what is known of the measured launches is never behind them.
void count_measured(std::map<capture::LaunchKey, capture::KeyStats>& keys,
                    const std::map<capture::LaunchKey, std::uint64_t>& measured) {
  for (const auto& [key, count] : measured) {
    capture::KeyStats& stats = keys[key];
    stats.key = key;
    stats.measured = std::max(stats.measured, count);
    stats.matched = std::max(stats.matched, stats.measured);
    stats.launches = std::max(stats.launches, stats.matched);
  }
}

// The key of all launches of a function on a GPU: configurations of functions that no filter takes are not told apart.
capture::LaunchKey key_of_function(const capture::LaunchKey& key) { return {.device = key.device, .function = key.function}; }

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

// Of a launch: what the profiled process made of its counters, and in its place what was made of them here.
void TimelineLoader::take_values(std::uint32_t config, MeasuredLaunch& launch, const capture::LaunchRecord& record) {
  const std::size_t position = timeline_.measured_launches[config].size();
  const auto take = [&](const std::string& metric, double value) {
    if (!std::isfinite(value)) return;
    std::vector<double>& values = timeline_.measured[config][metric];
    values.resize(position + 1, kNoValue);
    values[position] = value;
  };
  const std::vector<std::string>& metrics = parts_.metric_sets.at(record.metric_set).metrics;
  for (std::size_t i = 0; i < record.values.size(); ++i) take(metrics[i], record.values[i]);
  const auto evaluated = parts_.evaluated.extract(record.index);
  if (evaluated.empty()) return;
  launch.evaluated_here = true;
  for (const auto& [metric, value] : evaluated.mapped()) take(valid_utf8(metric), value);
}

void TimelineLoader::join_measured() {
  const std::map<std::uint32_t, std::uint32_t> sets = join_metric_sets();
  for (const auto& [index, record] : parts_.launches) {
    const std::uint32_t kernel = kernel_of(record.key);
    if (kernel == kNone) notices_.count("Measured launches of a function that the capture does not describe");
    const std::uint32_t config = kernels_.config(parts_.process, record.key, kernel);
    const auto set = parts_.metric_sets.find(record.metric_set);
    // Without values: only its raw counters were kept.
    if (set == parts_.metric_sets.end() || (!record.values.empty() && set->second.metrics.size() != record.values.size())) {
      notices_.count("Measurements that do not fit their metric set left out");
      continue;
    }
    MeasuredLaunch launch{index,
                          record.occurrence,
                          sets.at(record.metric_set),
                          record.passes,
                          known(record.mode, kLastReplayMode),
                          known(record.cache_control, kLastCacheControl),
                          record.start_unix_ns,
                          record.cost_ns,
                          record.context_id,
                          record.stream_id,
                          record.thread_id};
    take_values(config, launch, record);
    timeline_.measured_launches[config].push_back(launch);
  }
  for (capture::SassCountsRecord& record : parts_.sass_counts) {
    const std::uint32_t config = kernels_.config(parts_.process, record.key, kernel_of(record.key));
    pc_samples_.add(std::move(record), config, notices_);
  }
  notices_.count("Kept counters of a launch that was not measured left out", parts_.evaluated.size());
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
