#include "model/aggregate/coverage.h"

#include <cmath>

#include "model/aggregate/provenance.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// Of the thread that called for it; what nobody is known to have called for is the first process's.
std::uint32_t process_of(const Timeline& timeline, const Activity& activity) {
  if (activity.config != kNone) return timeline.configs[activity.config].process;
  return activity.call == kNone ? 0 : timeline.threads[timeline.calls[activity.call].thread].process;
}

void add_activity(const Timeline& timeline, const Activity& activity, Coverage& sum) {
  const auto ns = static_cast<std::uint64_t>(gpu_ns(activity));
  sum.gpu_ns += ns;
  if (activity.config == kNone) sum.copy_gpu_ns += ns;
  if (activity.config != kNone && timeline.measured.contains(activity.config)) sum.covered_gpu_ns += ns;
  if (activity.replayed) sum.measured_gpu_ns += ns;
}

// Without a timeline of events: GPU time as the counts have it, and as launches took while they were measured.
void add_durations(const Timeline& timeline, std::uint32_t process, Coverage& sum) {
  for (const auto& [config, metrics] : timeline.measured) {
    const auto durations = metrics.find(kDurationMetric);
    if (durations == metrics.end() || (process != kNone && timeline.configs[config].process != process)) continue;
    for (const double ns : durations->second) {
      if (ns > 0 && ns < 1e18) sum.measured_gpu_ns += static_cast<std::uint64_t>(std::llround(ns));
    }
  }
  sum.covered_gpu_ns += sum.measured_gpu_ns;
  sum.gpu_ns = sum.timed_gpu_ns + sum.measured_gpu_ns + sum.graph_gpu_ns;
}

void add_counts(const LaunchCounts& counts, bool has_events, Coverage& sum) {
  sum.launches += counts.launches;
  sum.matched += counts.matched;
  sum.measured += counts.measured;
  sum.skipped += counts.skipped;
  sum.near_missed += counts.near_missed;
  sum.timed += counts.timed;
  sum.timed_gpu_ns += counts.timed_gpu_ns;
  if (counts.matched == 0) sum.unmatched_gpu_ns += counts.timed_gpu_ns;
  if (counts.near_missed > 0) sum.near_missed_gpu_ns += counts.timed_gpu_ns;
  if (counts.measured == 0) return;
  sum.covered += counts.launches;
  if (!has_events) sum.covered_gpu_ns += counts.timed_gpu_ns;
}

}  // namespace

Coverage coverage_of(const Timeline& timeline, std::uint32_t process) {
  Coverage sum;
  const bool has_events = !timeline.activities.empty();
  const auto counts = [process](std::uint32_t one) { return process == kNone || one == process; };
  for (const LaunchCounts& line : timeline.counts) {
    if (counts(line.process)) add_counts(line, has_events, sum);
  }
  for (std::uint32_t i = 0; i < timeline.processes.size(); ++i) {
    if (!counts(i)) continue;
    sum.graph_launches += timeline.processes[i].graph_launches;
    sum.graph_gpu_ns += timeline.processes[i].graph_gpu_ns;
    sum.timing_complete = sum.timing_complete && timeline.processes[i].timing_complete;
  }
  if (!has_events) add_durations(timeline, process, sum);
  for (const Activity& activity : timeline.activities) {
    if (counts(process_of(timeline, activity))) add_activity(timeline, activity, sum);
  }
  return sum;
}

}  // namespace dlkprof::model
