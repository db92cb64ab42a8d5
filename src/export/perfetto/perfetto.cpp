// A trace for ui.perfetto.dev, of one run or of the ranks of a job: packets of protobuf, written front to back.
#include "base/text.h"
#include "export/formats.h"
#include "export/perfetto/cpu_slices.h"
#include "export/perfetto/gpu_events.h"
#include "export/perfetto/interned.h"
#include "export/perfetto/slices.h"

namespace dlkprof::exports {
namespace {

using perfetto::Packets;
using perfetto::RunIds;

std::size_t write_run(const Run& run, RunIds& ids, Packets& packets) {
  const RunIndex index(*run.profile);
  perfetto::Counters counters{measured_events(*run.profile), {}};
  counters.metrics = metrics_of(counters.events);
  perfetto::write_interned(run, index, ids, counters.metrics, packets);
  perfetto::write_tracks(run, ids, packets);
  perfetto::write_iterations(run, ids, packets);
  perfetto::write_cpu_slices(run, index, ids, packets);
  const std::size_t untimed = perfetto::write_gpu_events(run, index, ids, counters, packets);
  perfetto::write_counters(run, ids, counters, packets);
  perfetto::write_utilization(run, ids, packets);
  return untimed;
}

}  // namespace

Exported write_perfetto(const std::vector<Run>& runs, const report::Sink& sink) {
  report::Buffer out(sink);
  perfetto::TraceIds trace;
  std::vector<RunIds> ids;
  for (const Run& run : runs) ids.emplace_back(run, trace);
  const auto sequences = static_cast<std::uint32_t>(runs.size());
  const auto first_process = [](const Run& run) -> const model::Process* {
    return run.timeline().processes.empty() ? nullptr : &run.timeline().processes.front();
  };
  const model::Process* reference = runs.empty() ? nullptr : first_process(runs.front());
  Packets shared(out, sequences + 1, 0);
  // The clock of the trace is that of its first process, whose wall clock it is related to.
  if (reference != nullptr) perfetto::write_clock(shared, reference->clock.monotonic_ns, reference->clock.unix_ns);
  perfetto::write_gpu_info(runs, ids, shared);
  Exported exported;
  for (std::uint32_t i = 0; i < sequences; ++i) {
    const model::Process* process = first_process(runs[i]);
    const std::int64_t shift = process == nullptr || reference == nullptr ? 0 : clock_shift(*process, *reference);
    Packets packets(out, i + 1, shift);
    exported.untimed += write_run(runs[i], ids[i], packets);
  }
  out.finish();
  return exported;
}

}  // namespace dlkprof::exports
