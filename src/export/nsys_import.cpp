#include "export/nsys_import.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "capture/options.h"
#include "export/nsys_reader.h"
#include "export/nsys_tables.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline_order.h"
#include "store/database.h"

namespace dlkprof::exports {
namespace nsys {

NsysReader::NsysReader(const std::filesystem::path& path) : path_(path), connection_(path, store::Access::read) {
  texts_.intern("");
}

model::Timeline NsysReader::read() {
  read_strings();
  read_processes();
  read_devices();
  read_ranges();
  read_calls();
  for (const char* table : {kKernels, kUntimedKernels}) read_kernels(table);
  read_copies();
  finish();
  return std::move(timeline_);
}

void NsysReader::read_strings() {
  Rows rows(connection_, "StringIds", {"id", "value"}, {});
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
    const std::uint32_t process = process_of(pid_of(global_tid));
    timeline_.threads.push_back({process, tid_of(global_tid)});
  }
  return found->second;
}

void NsysReader::read_processes() {
  Rows rows(connection_, "PROCESSES", {"globalPid"}, {"name"});
  std::map<std::uint32_t, std::string> names;
  while (rows.next()) names.emplace(pid_of(rows.integer(0)), valid_utf8(rows.text(1)));
  // Of all that ran on the machine those that used a GPU, or marked ranges.
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    Rows used(connection_, table, {}, {"globalTid"});
    while (used.next()) {
      if (used.has(0)) (void)process_of(pid_of(used.integer(0)));
    }
  }
  Rows session(connection_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, {});
  const std::int64_t utc = session.next() ? std::max<std::int64_t>(session.integer(0), 0) : 0;
  for (const auto& [pid, index] : processes_) {
    model::Process& process = timeline_.processes[index];
    process.clock = {0, utc};
    process.record.start_unix_ns = utc;
    if (const auto name = names.find(pid); name != names.end()) process.record.arguments = split(name->second, ' ');
  }
}

void NsysReader::read_devices() {
  Rows gpus(connection_, "TARGET_INFO_GPU", {"id", "name"},
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
  Rows used(connection_, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, {});
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
  if (has_table(connection_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
    notices_.count("CUDA graphs were recorded as a whole, without their kernels (nsys profile --cuda-graph-trace=node has them)");
  notices_.move_to(timeline_.notices, path_.filename().string());
  timeline_.notices.push_back(
      {capture::Severity::info, "recorded by Nsight Systems: times, and no counters", path_.filename().string(), ""});
}

}  // namespace nsys

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

model::Timeline read_nsys_sqlite(const std::filesystem::path& path) { return nsys::NsysReader(path).read(); }

}  // namespace dlkprof::exports
