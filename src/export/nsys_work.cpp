// Kernels, copies and sets of a file of Nsight Systems, and how often each was launched.
#include <algorithm>
#include <utility>

#include "export/nsys_reader.h"
#include "export/nsys_tables.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::exports::nsys {

using model::kNone;

std::uint32_t NsysReader::function_of(const Rows& row, std::uint32_t process, std::uint32_t kernel, const std::string& mangled) {
  capture::FunctionRecord record{.mangled_name = mangled,
                                 .registers_per_thread = row.number(15),
                                 .static_shared_bytes = row.number(16),
                                 .local_bytes_per_thread = row.number(18)};
  if (record.registers_per_thread == 0) return 0;  // every kernel has some: what it takes is not known
  const auto next = static_cast<std::uint32_t>(timeline_.functions.size() + 1);
  const auto [found, is_new] =
      functions_.try_emplace({process, kernel, record.registers_per_thread, record.static_shared_bytes}, next);
  if (is_new) {
    record.id = next;
    record.max_threads_per_block = 1024;  // of all GPUs so far; an export does not say what the kernel was compiled for
    timeline_.functions.push_back({process, std::move(record)});
  }
  return found->second;
}

void NsysReader::add_activity(model::Activity activity, const Rows& row, std::uint32_t process) {
  const bool timed = row.has(0);
  activity.start_ns = row.integer(0);  // 0 where it is NULL
  activity.end_ns = timed ? row.integer(1) : 0;
  if (timed && (!is_interval(activity.start_ns, activity.end_ns) || activity.end_ns == 0)) {
    notices_.count("Kernels, copies and sets with times that cannot be, left out");
    return;
  }
  activity.device = device_of(process, row.number(2));
  activity.stream = row.number(3);
  activity.in_graph = row.has(6);
  const auto call = row.has(4) ? calls_.find({timeline_.processes[process].record.pid, row.integer(4)}) : calls_.end();
  if (call == calls_.end()) {
    if (!timed) return notices_.count("Launches with neither a time nor a CUDA call left out");
    notices_.count("Kernels, copies and sets whose CUDA call was not recorded");
  }
  activity.call = call == calls_.end() ? kNone : call->second;
  timeline_.activities.push_back(activity);
}

void NsysReader::read_kernels(const char* table) {
  Rows rows(connection_, table, {"start", "end", "deviceId", "streamId"},
            {"correlationId", "globalPid", "graphNodeId", "demangledName", "mangledName", "gridX", "gridY", "gridZ", "blockX",
             "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread",
             "clusterX", "clusterY", "clusterZ"});
  while (rows.next()) {
    const std::uint32_t process = process_of(pid_of(rows.integer(5)));
    // The mangled name gives all others; older files lack it.
    const std::string& mangled = text_of(rows.has(8) ? rows.integer(8) : rows.integer(7));
    const std::string& name = mangled.empty() ? text_of(rows.integer(7)) : mangled;
    model::Activity activity;
    activity.kernel = kernels_.kernel(name);
    capture::LaunchKey key{
        .device = rows.number(2),
        .function = function_of(rows, process, activity.kernel, name),
        .grid = {rows.number(9), rows.number(10), rows.number(11)},
        .block = {rows.number(12), rows.number(13), rows.number(14)},
        .cluster = {std::max(rows.number(19), 1U), std::max(rows.number(20), 1U), std::max(rows.number(21), 1U)},
        .dynamic_shared_bytes = rows.number(17)};
    activity.config = kernels_.config(process, key, activity.kernel);
    add_activity(activity, rows, process);
  }
}

void NsysReader::read_copies() {
  Rows copies(connection_, "CUPTI_ACTIVITY_KIND_MEMCPY", {"start", "end", "deviceId", "streamId"},
              {"correlationId", "globalPid", "graphNodeId", "bytes", "copyKind"});
  while (copies.next()) {
    model::Activity activity;
    activity.kernel = kernels_.copy(static_cast<capture::CopyKind>(copies.number(8) <= 10 ? copies.number(8) : 0));
    activity.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(copies.integer(7), 0));
    add_activity(activity, copies, process_of(pid_of(copies.integer(5))));
  }
  Rows sets(connection_, "CUPTI_ACTIVITY_KIND_MEMSET", {"start", "end", "deviceId", "streamId"},
            {"correlationId", "globalPid", "graphNodeId", "bytes"});
  while (sets.next()) {
    model::Activity activity;
    activity.kernel = kernels_.set();
    activity.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(sets.integer(7), 0));
    add_activity(activity, sets, process_of(pid_of(sets.integer(5))));
  }
}

// In the order of their calls, in which the timeline has calls already.
void NsysReader::number_launches() {
  std::vector<std::uint32_t> launches;
  for (std::uint32_t i = 0; i < timeline_.activities.size(); ++i) {
    const model::Activity& activity = timeline_.activities[i];
    if (activity.config != kNone && activity.call != kNone && !activity.in_graph) launches.push_back(i);
  }
  std::stable_sort(launches.begin(), launches.end(), [this](std::uint32_t a, std::uint32_t b) {
    return timeline_.activities[a].call < timeline_.activities[b].call;
  });
  std::map<std::uint32_t, std::uint64_t> next;  // by process
  for (const std::uint32_t i : launches) {
    model::Activity& activity = timeline_.activities[i];
    activity.launch_index = next[timeline_.configs[activity.config].process]++;
  }
}

void NsysReader::count_launches() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, model::LaunchCounts> counts;  // by process and configuration
  for (const model::Activity& activity : timeline_.activities) {
    if (activity.config == kNone) continue;
    const model::Config& config = timeline_.configs[activity.config];
    model::Process& process = timeline_.processes[config.process];
    if (activity.in_graph) {
      process.graph_gpu_ns += static_cast<std::uint64_t>(model::gpu_ns(activity));
      continue;
    }
    model::LaunchCounts& one = counts[{config.process, activity.config}];
    one.process = config.process;
    one.config = activity.config;
    one.kernel = activity.kernel;
    one.device = config.key.device;
    ++one.launches;
    one.timed += model::is_timed(activity) ? 1 : 0;
    one.timed_gpu_ns += static_cast<std::uint64_t>(model::gpu_ns(activity));
  }
  for (auto& [key, one] : counts) timeline_.counts.push_back(one);
}

}  // namespace dlkprof::exports::nsys
