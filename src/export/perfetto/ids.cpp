#include "export/perfetto/ids.h"

namespace dlkprof::exports::perfetto {
namespace {

constexpr std::uint32_t kMostPids = 1U << 22U;  // of Linux (proc(5), pid_max)

std::uint32_t free_pid(std::uint32_t pid, std::set<std::uint32_t>& taken) {
  pid %= kMostPids;
  while (!taken.insert(pid).second) pid += kMostPids;
  return pid;
}

}  // namespace

RunIds::RunIds(const Run& run, TraceIds& trace)
    : trace_(&trace),
      processes_(run.timeline().processes.size()),
      threads_(run.timeline().threads.size()),
      strings_(run.timeline().strings.size()),
      ops_(run.fold().ops.size()),
      first_track_(trace.next_track),
      first_event_(trace.next_event) {
  const model::Timeline& timeline = run.timeline();
  trace.next_track += processes_ + threads_ + 1;
  trace.next_event += timeline.activities.size();
  for (const model::Process& process : timeline.processes) {
    pids_.push_back(free_pid(process.record.pid, trace.pids));
    tid_shifts_.push_back(pids_.back() - process.record.pid % kMostPids);
  }
  const std::string host = timeline.processes.empty() ? "" : timeline.processes.front().record.host;
  for (const model::Device& device : timeline.devices) {
    const auto next = static_cast<std::uint32_t>(trace.gpus.size());
    // One whose bus id is not known is nobody else's.
    const std::string& bus = device.record.pci_bus_id;
    gpus_.push_back(trace.gpus.emplace(std::pair(host, bus.empty() ? std::to_string(next) : bus), next).first->second);
  }
  for (const model::Activity& activity : timeline.activities)
    queues_.emplace(std::pair(activity.device, activity.stream), kFirstQueue + queues_.size());
}

}  // namespace dlkprof::exports::perfetto
