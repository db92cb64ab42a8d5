#include "model/coverage_times.h"

#include "model/key_counts.h"
#include "model/time_arithmetic.h"

namespace dlkprof::model {
namespace {

capture::KeyStats* stats_of(Run& run, const capture::LaunchKey& key) {
  auto found = run.keys.find(key);
  if (found == run.keys.end()) found = run.keys.find(key_of_function(key));
  return found != run.keys.end() ? &found->second : nullptr;
}

void add(Run& run, const Work& work, const capture::LaunchKey& key) {
  const auto ns = static_cast<std::uint64_t>(gpu_ns(work));
  Coverage& coverage = run.coverage;
  if (work.in_graph) {
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
  for (const Work& work : timeline.works) {
    if (work.config == kNone || work.replayed || !is_timed(work)) continue;
    const Config& config = timeline.configs[work.config];
    if (config.process < runs.size()) add(runs[config.process], work, config.key);
  }
}

}  // namespace dlkprof::model
