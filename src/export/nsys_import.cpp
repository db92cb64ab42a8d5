#include "export/nsys_import.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "capture/message.h"
#include "capture/options.h"
#include "export/nsys_rows.h"
#include "export/nsys_tables.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/kernel_table.h"
#include "model/timeline/notice_counts.h"
#include "model/timeline/text_table.h"
#include "model/timeline/timeline_order.h"
#include "store/database.h"

namespace dlkprof::exports {
namespace {

using model::kNone;

// CUPTI's numbers of calls are of one process.
struct CallName {
  std::uint32_t pid = 0;
  std::int64_t correlation = 0;
  friend auto operator<=>(const CallName&, const CallName&) = default;
};

class NsysReader {
 public:
  explicit NsysReader(const std::filesystem::path& path) : path_(path), connection_(path, store::Access::read) {
    texts_.intern("");
  }

  model::Timeline read() {
    read_strings();
    read_processes();
    read_devices();
    read_ranges();
    read_calls();
    for (const char* table : {nsys::kKernels, nsys::kUntimedKernels}) read_kernels(table);
    read_copies();
    finish();
    return std::move(timeline_);
  }

 private:
  void read_strings();
  void read_processes();
  void read_devices();
  void read_ranges();
  void find_parents();
  void read_calls();
  void read_kernels(const char* table);
  void read_copies();
  void number_launches();
  void count_launches();
  void finish();

  std::uint32_t process_of(std::uint32_t pid);
  std::uint32_t thread_of(std::int64_t global_tid);
  std::uint32_t device_of(std::uint32_t process, std::uint32_t ordinal);
  [[nodiscard]] const std::string& text_of(std::int64_t id) const;
  std::uint32_t function_of(const nsys::Rows& row, std::uint32_t process, std::uint32_t kernel, const std::string& mangled);
  void add_activity(model::Activity activity, const nsys::Rows& row, std::uint32_t process);

  std::filesystem::path path_;
  store::Connection connection_;
  model::Timeline timeline_;
  model::TextTable texts_;
  model::KernelTable kernels_;
  model::NoticeCounts notices_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::map<std::uint32_t, std::uint32_t> processes_;                 // by pid
  std::map<std::int64_t, std::uint32_t> threads_;                    // by globalTid
  std::map<std::int64_t, std::uint32_t> gpus_;                       // TARGET_INFO_GPU.id -> index into devices
  std::map<CallName, std::uint32_t> calls_;                          // index into calls
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> functions_;  // process, kernel, registers, shared memory
};

void NsysReader::read_strings() {
  nsys::Rows rows(connection_, "StringIds", {"id", "value"}, {});
  while (rows.next()) strings_.emplace(rows.integer(0), valid_utf8(rows.text(1)));
}

const std::string& NsysReader::text_of(std::int64_t id) const {
  static const std::string kNothing;
  const auto found = strings_.find(id);
  return found == strings_.end() ? kNothing : found->second;
}

std::uint32_t NsysReader::process_of(std::uint32_t pid) {
  const auto [found, is_new] = processes_.try_emplace(pid, static_cast<std::uint32_t>(timeline_.processes.size()));
  if (!is_new) return found->second;
  model::Process& process = timeline_.processes.emplace_back();
  capture::ProfileOptions options;
  options.collect = capture::Collect::none;  // no launch was to be measured
  process.record.pid = pid;
  process.record.options_json = capture::to_json(options);
  process.capture = path_.filename().string();
  process.timing_complete = process.ended = true;
  return found->second;
}

std::uint32_t NsysReader::thread_of(std::int64_t global_tid) {
  const auto [found, is_new] = threads_.try_emplace(global_tid, static_cast<std::uint32_t>(timeline_.threads.size()));
  if (is_new) {
    const std::uint32_t process = process_of(nsys::pid_of(global_tid));
    timeline_.threads.push_back({process, nsys::tid_of(global_tid)});
  }
  return found->second;
}

void NsysReader::read_processes() {
  nsys::Rows rows(connection_, "PROCESSES", {"globalPid"}, {"name"});
  std::map<std::uint32_t, std::string> names;
  while (rows.next()) names.emplace(nsys::pid_of(rows.integer(0)), valid_utf8(rows.text(1)));
  // Of all that ran on the machine those that used a GPU, or marked ranges.
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    nsys::Rows used(connection_, table, {}, {"globalTid"});
    while (used.next()) {
      if (used.has(0)) (void)process_of(nsys::pid_of(used.integer(0)));
    }
  }
  nsys::Rows session(connection_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, {});
  const std::int64_t utc = session.next() ? std::max<std::int64_t>(session.integer(0), 0) : 0;
  for (const auto& [pid, index] : processes_) {
    model::Process& process = timeline_.processes[index];
    process.clock = {0, utc};
    process.record.start_unix_ns = utc;
    if (const auto name = names.find(pid); name != names.end()) process.record.arguments = split(name->second, ' ');
  }
}

void NsysReader::read_devices() {
  nsys::Rows gpus(connection_, "TARGET_INFO_GPU", {"id", "name"},
                  {"busLocation", "smCount", "totalMemory", "chipName", "computeMajor", "computeMinor", "threadsPerWarp",
                   "maxWarpsPerSm", "maxBlocksPerSm", "maxThreadsPerBlock", "maxRegistersPerBlock", "maxRegistersPerSm",
                   "maxShmemPerBlock", "maxShmemPerBlockOptin", "maxShmemPerSm", "l2CacheSize", "clockRate"});
  while (gpus.next()) {
    gpus_.emplace(gpus.integer(0), static_cast<std::uint32_t>(timeline_.devices.size()));
    capture::DeviceRecord& gpu = timeline_.devices.emplace_back().record;
    gpu.name = valid_utf8(gpus.text(1));
    gpu.pci_bus_id = valid_utf8(gpus.text(2));
    gpu.sm_count = gpus.number(3);
    gpu.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(gpus.integer(4), 0));
    gpu.chip = valid_utf8(gpus.text(5));
    gpu.cc_major = gpus.number(6);
    gpu.cc_minor = gpus.number(7);
    gpu.warp_size = gpus.number(8);
    gpu.max_threads_per_sm = gpus.number(9) * gpu.warp_size;
    gpu.max_blocks_per_sm = gpus.number(10);
    gpu.max_threads_per_block = gpus.number(11);
    gpu.registers_per_block = gpus.number(12);
    gpu.registers_per_sm = gpus.number(13);
    gpu.shared_per_block = gpus.number(14);
    gpu.shared_per_block_optin = gpus.number(15);
    gpu.shared_per_sm = gpus.number(16);
    gpu.l2_bytes = gpus.number(17);
    gpu.sm_clock_khz = gpus.number(18) / 1000;
  }
  nsys::Rows used(connection_, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, {});
  while (used.next()) {
    const auto gpu = gpus_.find(used.integer(0));
    const auto process = processes_.find(used.number(2));
    if (gpu == gpus_.end() || process == processes_.end()) continue;
    timeline_.processes[process->second].devices[used.number(1)] = gpu->second;
    timeline_.devices[gpu->second].record.index = used.number(1);
  }
}

// Where nothing says which GPU a process calls by a number it is taken for the GPU of that number.
std::uint32_t NsysReader::device_of(std::uint32_t process, std::uint32_t ordinal) {
  std::map<std::uint32_t, std::uint32_t>& known = timeline_.processes[process].devices;
  if (const auto found = known.find(ordinal); found != known.end()) return found->second;
  const auto same = gpus_.find(ordinal);
  std::uint32_t index = same != gpus_.end() ? same->second : static_cast<std::uint32_t>(timeline_.devices.size());
  if (same == gpus_.end()) {
    timeline_.devices.emplace_back().record.name = "unknown";
    gpus_.emplace(ordinal, index);
  }
  known.emplace(ordinal, index);
  return index;
}

void NsysReader::read_ranges() {
  std::map<std::int64_t, std::string> domains;
  nsys::Rows named(connection_, "NVTX_EVENTS", {"eventType"}, {"domainId", "text", "textId"});
  while (named.next()) {
    if (named.integer(0) != nsys::kDomain || !named.has(1)) continue;
    domains.emplace(named.integer(1), valid_utf8(named.has(2) ? named.text(2) : text_of(named.integer(3))));
  }
  nsys::Rows rows(connection_, "NVTX_EVENTS", {"start", "eventType"}, {"end", "text", "textId", "globalTid", "domainId"});
  std::array<char, 4096> room{};
  while (rows.next()) {
    const std::int64_t type = rows.integer(1);
    if (type != nsys::kPushPop && type != nsys::kStartEnd && type != nsys::kMark) continue;
    model::Range range;
    range.kind = type == nsys::kMark       ? capture::RangeKind::mark
                 : type == nsys::kStartEnd ? capture::RangeKind::start_end
                                           : capture::RangeKind::push_pop;
    range.start_ns = rows.integer(0);
    range.closed = type == nsys::kMark || rows.has(2);
    range.end_ns = rows.has(2) && type != nsys::kMark ? rows.integer(2) : range.start_ns;
    if (!rows.has(5) || !nsys::is_interval(range.start_ns, range.end_ns)) {
      notices_.count("Ranges without a thread, or with times that cannot be, left out");
      continue;
    }
    range.thread = thread_of(rows.integer(5));
    const std::string message = rows.has(3) ? valid_utf8(rows.text(3)) : text_of(rows.integer(4));
    const capture::SplitMessage parts = capture::split_message(message, room);
    range.message = texts_.intern(parts.text);
    range.sequence = parts.sequence;
    range.op_id = parts.op_id;
    if (const auto domain = domains.find(rows.integer(6)); domain != domains.end()) range.domain = texts_.intern(domain->second);
    timeline_.ranges.push_back(range);
  }
}

// By start on each thread, an outer range before those in it. What is in a range that was never closed shows how long it was
// open.
void NsysReader::find_parents() {
  std::vector<model::Range>& ranges = timeline_.ranges;
  std::stable_sort(ranges.begin(), ranges.end(), [](const model::Range& a, const model::Range& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<std::int64_t> last(timeline_.threads.size());
  for (const model::Range& range : ranges) last[range.thread] = std::max(last[range.thread], range.end_ns);
  for (const model::Call& call : timeline_.calls) last[call.thread] = std::max(last[call.thread], call.end_ns);
  for (model::Range& range : ranges) {
    if (!range.closed) range.end_ns = std::max(range.start_ns, last[range.thread]);
  }
  std::vector<std::vector<std::uint32_t>> open(timeline_.threads.size());
  const auto innermost = [&](std::uint32_t thread, std::int64_t start, std::int64_t end) {
    std::vector<std::uint32_t>& stack = open[thread];
    while (!stack.empty() && ranges[stack.back()].end_ns < std::max(start, end)) {
      if (ranges[stack.back()].end_ns >= start) break;  // it crosses: put_in_order() looks further out
      stack.pop_back();
    }
    return stack.empty() ? kNone : stack.back();
  };
  std::uint32_t call = 0;
  const auto place_calls = [&](std::int64_t before) {
    for (; call < timeline_.calls.size() && timeline_.calls[call].start_ns < before; ++call) {
      model::Call& it = timeline_.calls[call];
      it.range = innermost(it.thread, it.start_ns, it.start_ns);
    }
  };
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    place_calls(ranges[i].start_ns);
    ranges[i].parent = innermost(ranges[i].thread, ranges[i].start_ns, ranges[i].end_ns);
    if (ranges[i].kind == capture::RangeKind::push_pop) open[ranges[i].thread].push_back(i);
  }
  place_calls(model::kMostNs);
}

void NsysReader::read_calls() {
  nsys::Rows rows(connection_, "CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "nameId"}, {"globalTid", "correlationId"},
                  "start, end DESC");
  while (rows.next()) {
    if (!rows.has(3) || !nsys::is_interval(rows.integer(0), rows.integer(1))) {
      notices_.count("CUDA calls without a thread, or with times that cannot be, left out");
      continue;
    }
    const std::int64_t thread = rows.integer(3);
    const auto index = static_cast<std::uint32_t>(timeline_.calls.size());
    timeline_.calls.push_back(
        {rows.integer(0), rows.integer(1), kNone, thread_of(thread), texts_.intern(text_of(rows.integer(2)))});
    if (rows.has(4)) calls_.emplace(CallName{nsys::pid_of(thread), rows.integer(4)}, index);
  }
}

std::uint32_t NsysReader::function_of(const nsys::Rows& row, std::uint32_t process, std::uint32_t kernel,
                                      const std::string& mangled) {
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

void NsysReader::add_activity(model::Activity activity, const nsys::Rows& row, std::uint32_t process) {
  const bool timed = row.has(0);
  activity.start_ns = row.integer(0);  // 0 where it is NULL
  activity.end_ns = timed ? row.integer(1) : 0;
  if (timed && (!nsys::is_interval(activity.start_ns, activity.end_ns) || activity.end_ns == 0)) {
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
  nsys::Rows rows(connection_, table, {"start", "end", "deviceId", "streamId"},
                  {"correlationId", "globalPid", "graphNodeId", "demangledName", "mangledName", "gridX", "gridY", "gridZ",
                   "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
                   "localMemoryPerThread", "clusterX", "clusterY", "clusterZ"});
  while (rows.next()) {
    const std::uint32_t process = process_of(nsys::pid_of(rows.integer(5)));
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
  nsys::Rows copies(connection_, "CUPTI_ACTIVITY_KIND_MEMCPY", {"start", "end", "deviceId", "streamId"},
                    {"correlationId", "globalPid", "graphNodeId", "bytes", "copyKind"});
  while (copies.next()) {
    model::Activity activity;
    activity.kernel = kernels_.copy(static_cast<capture::CopyKind>(copies.number(8) <= 10 ? copies.number(8) : 0));
    activity.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(copies.integer(7), 0));
    add_activity(activity, copies, process_of(nsys::pid_of(copies.integer(5))));
  }
  nsys::Rows sets(connection_, "CUPTI_ACTIVITY_KIND_MEMSET", {"start", "end", "deviceId", "streamId"},
                  {"correlationId", "globalPid", "graphNodeId", "bytes"});
  while (sets.next()) {
    model::Activity activity;
    activity.kernel = kernels_.set();
    activity.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(sets.integer(7), 0));
    add_activity(activity, sets, process_of(nsys::pid_of(sets.integer(5))));
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

void NsysReader::finish() {
  find_parents();
  std::stable_sort(timeline_.functions.begin(), timeline_.functions.end(),
                   [](const model::LoadedFunction& a, const model::LoadedFunction& b) { return a.process < b.process; });
  std::move(kernels_).move_to(timeline_);
  for (std::uint32_t i = 0; i < texts_.size(); ++i) timeline_.strings.push_back(texts_[i]);
  std::vector<std::uint32_t> rank(timeline_.ranges.size());
  std::iota(rank.begin(), rank.end(), 0U);
  model::put_in_order(timeline_, std::move(rank), notices_);
  number_launches();
  count_launches();
  std::int64_t first = model::kMostNs, last = 0;
  const auto see = [&](auto&& events) {  // a view that filters is not const
    for (const auto& event : events) {
      first = std::min(first, event.start_ns);
      last = std::max(last, event.end_ns);
    }
  };
  see(timeline_.ranges);
  see(timeline_.calls);
  see(timeline_.activities | std::views::filter(model::is_timed));
  timeline_.first_ns = std::min(first, last);
  timeline_.last_ns = last;
  if (nsys::has_table(connection_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
    notices_.count("CUDA graphs were recorded as a whole, without their kernels (nsys profile --cuda-graph-trace=node has them)");
  notices_.move_to(timeline_.notices, path_.filename().string());
  timeline_.notices.push_back(
      {capture::Severity::info, "recorded by Nsight Systems: times, and no counters", path_.filename().string(), ""});
}

}  // namespace

bool is_nsys_sqlite(const std::filesystem::path& path) noexcept {
  try {
    if (!store::is_database(path)) return false;
    const store::Connection connection(path, store::Access::read);
    return connection.number("PRAGMA application_id") == 0 && nsys::has_table(connection, "StringIds") &&
           (nsys::has_table(connection, "CUPTI_ACTIVITY_KIND_KERNEL") || nsys::has_table(connection, "NVTX_EVENTS"));
  } catch (const std::exception&) {
    return false;
  }
}

model::Timeline read_nsys_sqlite(const std::filesystem::path& path) { return NsysReader(path).read(); }

}  // namespace dlkprof::exports
