// The GPU's side of a run: kernels, copies and sets as render stages, with their counters; and what whole GPUs did over time.
#pragma once

#include <string>
#include <vector>

#include "export/measured_events.h"
#include "export/perfetto/ids.h"
#include "export/perfetto/packets.h"
#include "export/run.h"

namespace dlkprof::exports::perfetto {

// What a run's figures are written with.
struct Counters {
  std::vector<MeasuredEvent> events;
  std::vector<std::string> metrics;  // of them, by name
};

// Works without a time on the GPU are left out; returns how many.
std::size_t write_gpu_events(const Run& run, const RunIndex& index, const RunIds& ids, const Counters& counters,
                             Packets& packets);

// A sample of each metric where a measured kernel starts, and 0 where it ends, unless the next one starts then. Of kernels that
// run side by side on a GPU the longest has them, as the pages of Perfetto find them by time alone.
void write_counters(const Run& run, const RunIds& ids, const Counters& counters, Packets& packets);

// A track for each metric that GPUs were sampled for, and the bursts in which they were. Between these the tracks say 0.
void write_utilization(const Run& run, RunIds& ids, Packets& packets);

// The GPUs of all runs, once in a trace.
void write_gpu_info(const std::vector<Run>& runs, const std::vector<RunIds>& ids, Packets& packets);

}  // namespace dlkprof::exports::perfetto
