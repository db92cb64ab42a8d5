#include "model/aggregate/coverage_times.h"

#include "model/fold/time_arithmetic.h"
#include "model/timeline/key_counts.h"

namespace dlkprof::model {
namespace {

capture::KeyStats* stats_of(Run& run, const capture::LaunchKey& key) {
  auto found = run.keys.find(key);
  if (found == run.keys.end()) found = run.keys.find(key_of_function(key));
  return found != run.keys.end() ? &found->second : nullptr;
}

void add(Run& run, const Activity& activity, const capture::LaunchKey& key) {
  const auto ns = static_cast<std::uint64_t>(gpu_ns(activity));
  Coverage& coverage = run.coverage;
  if (activity.in_graph) {
    coverage.graph_gpu_ns += ns;
    return;
  }
  capture::KeyStats* stats = stats_of(run, key);
  if (stats == nullptr) return;  // of a capture that was cut before its counts
  ++stats->timed;
  stats->timed_gpu_ns += ns;
  ++coverage.timed;
  coverage.timed_gpu_ns += ns;
  if (stats->measured > 0) coverage.covered_gpu_ns += ns;
  if (stats->matched == 0) coverage.unmatched_gpu_ns += ns;
  if (stats->near_missed > 0) coverage.near_missed_gpu_ns += ns;
}

}  // namespace

void add_gpu_times(std::span<Run> runs, const Timeline& timeline) {
  for (const Activity& activity : timeline.activities) {
    if (activity.config == kNone || activity.replayed || !is_timed(activity)) continue;
    const Config& config = timeline.configs[activity.config];
    if (config.process < runs.size()) add(runs[config.process], activity, config.key);
  }
}

}  // namespace dlkprof::model
