// A run as an SQLite file of Nsight Systems, for `nsys stats`, its recipes, and scripts. Times are ns from the first event on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "dlkprof/version.h"
#include "export/formats.h"
#include "export/nsys_tables.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/message.h"
#include "store/sqlite.h"

namespace dlkprof::exports {
namespace {

std::size_t column_count(std::string_view columns) {
  return 1 + static_cast<std::size_t>(std::count(columns.begin(), columns.end(), ','));
}

using MaybeInteger = std::optional<std::int64_t>;
constexpr MaybeInteger kNull = std::nullopt;

class NsysWriter {
 public:
  NsysWriter(const Run& run, store::Connection& connection) : timeline_(run.timeline()), connection_(connection) {
    for (const nsys::Table& table : nsys::kTables)
      connection_.run(fmt::format("CREATE TABLE {} ({})", table.name, table.columns));
    strings_.emplace(insert("StringIds"));
  }

  Exported write() {
    write_session();
    write_processes();
    write_devices();
    write_calls();
    Exported exported{write_activities()};
    write_ranges();
    return exported;
  }

 private:
  [[nodiscard]] store::Statement insert(const char* name) const { return insert(name, name); }
  // Into a table with the columns of `like`.
  [[nodiscard]] store::Statement insert(const char* name, std::string_view like) const {
    for (const nsys::Table& table : nsys::kTables) {
      if (table.name != like) continue;
      std::string parameters = "?";
      for (std::size_t i = 1; i < column_count(table.columns); ++i) parameters += ",?";
      return connection_.prepare(fmt::format("INSERT INTO {} VALUES ({})", name, parameters));
    }
    throw std::logic_error("no such table");
  }
  std::int64_t text(const std::string& value) {
    const auto [found, is_new] = ids_.try_emplace(valid_utf8(value), static_cast<std::int64_t>(ids_.size()));
    if (is_new) strings_->run(found->second, found->first);
    return found->second;
  }
  [[nodiscard]] std::int64_t time(std::int64_t ns) const { return model::elapsed_ns(timeline_.first_ns, ns); }
  [[nodiscard]] std::uint32_t pid(std::uint32_t process) const { return timeline_.processes[process].record.pid; }
  [[nodiscard]] std::int64_t global_tid(std::uint32_t thread) const {
    return nsys::global_id(pid(timeline_.threads[thread].process), timeline_.threads[thread].tid);
  }
  [[nodiscard]] std::uint32_t process_of(const model::Activity& work) const {
    if (work.config != model::kNone) return timeline_.configs[work.config].process;
    return work.call == model::kNone ? 0 : timeline_.threads[timeline_.calls[work.call].thread].process;
  }
  // CUDA's number of a GPU in a process.
  [[nodiscard]] std::int64_t ordinal(const model::Activity& work) const {
    if (work.config != model::kNone) return timeline_.configs[work.config].key.device;
    for (const auto& [number, device] : timeline_.processes[process_of(work)].devices) {
      if (device == work.device) return number;
    }
    return work.device;
  }
  [[nodiscard]] static MaybeInteger correlation(std::uint32_t call) {
    return call == model::kNone ? kNull : MaybeInteger(std::int64_t{call} + 1);
  }

  void write_session();
  void write_processes();
  void write_devices();
  void write_calls();
  std::size_t write_activities();
  void write_kernel(store::Statement& out, const model::Activity& work);
  void write_untimed_kernel(const model::Activity& work);
  void write_ranges();

  const model::Timeline& timeline_;
  store::Connection& connection_;
  std::optional<store::Statement> strings_, untimed_kernels_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

void NsysWriter::write_session() {
  store::Statement meta = insert("META_DATA_EXPORT");
  meta.run("EXPORT_SCHEMA_VERSION", nsys::kSchemaVersion);
  meta.run("EXPORTED_BY", "dlkprof " DLKPROF_VERSION);
  const std::int64_t utc = timeline_.processes.empty() ? 0 : on_wall_clock(timeline_.processes.front(), timeline_.first_ns);
  insert("TARGET_INFO_SESSION_START_TIME").run(utc, "", "");
}

void NsysWriter::write_processes() {
  store::Statement processes = insert("PROCESSES");
  for (const model::Process& process : timeline_.processes)
    processes.run(nsys::global_id(process.record.pid), process.record.pid, command_line(process));
  store::Statement threads = insert("ThreadNames");
  for (std::uint32_t i = 0; i < timeline_.threads.size(); ++i)
    threads.run(text(fmt::format("thread {}", timeline_.threads[i].tid)), 0, global_tid(i));
}

void NsysWriter::write_devices() {
  store::Statement gpus = insert("TARGET_INFO_GPU");
  for (std::size_t i = 0; i < timeline_.devices.size(); ++i) {
    const capture::DeviceRecord& gpu = timeline_.devices[i].record;
    const std::uint32_t warps = gpu.warp_size == 0 ? 0 : gpu.max_threads_per_sm / gpu.warp_size;
    gpus.run(kNull, i, gpu.name, gpu.pci_bus_id, 1, gpu.l2_bytes, gpu.memory_bytes, kNull, std::uint64_t{gpu.sm_clock_khz} * 1000,
             gpu.sm_count, kNull, "", kNull, gpu.chip, gpu.cc_major, gpu.cc_minor, gpu.warp_size, warps, gpu.max_blocks_per_sm,
             gpu.max_threads_per_block, gpu.registers_per_block, gpu.registers_per_sm, gpu.shared_per_block,
             gpu.shared_per_block_optin, gpu.shared_per_sm);
  }
  store::Statement used = insert("TARGET_INFO_CUDA_DEVICE");
  for (const model::Process& process : timeline_.processes) {
    for (const auto& [number, device] : process.devices)
      used.run(device, number, process.record.pid, "", timeline_.devices[device].record.sm_count);
  }
}

void NsysWriter::write_calls() {
  store::Statement calls = insert("CUPTI_ACTIVITY_KIND_RUNTIME");
  for (std::uint32_t i = 0; i < timeline_.calls.size(); ++i) {
    const model::Call& call = timeline_.calls[i];
    calls.run(time(call.start_ns), time(call.end_ns), nsys::kDriverCall, global_tid(call.thread), correlation(i),
              text(timeline_.strings[call.name]), 0, kNull);
  }
}

void NsysWriter::write_kernel(store::Statement& out, const model::Activity& work) {
  const model::Kernel& kernel = timeline_.kernels[work.kernel];
  const model::Config& config = timeline_.configs[work.config];
  const capture::LaunchKey& key = config.key;
  const capture::FunctionRecord* known = model::function_of(timeline_, config);
  const capture::FunctionRecord function = known == nullptr ? capture::FunctionRecord{} : *known;
  const auto at = [&](std::int64_t ns) { return is_timed(work) ? MaybeInteger(time(ns)) : kNull; };
  out.run(at(work.start_ns), at(work.end_ns), ordinal(work), 1, kNull, work.stream, correlation(work.call),
          nsys::global_id(pid(config.process)), text(kernel.long_name), text(kernel.name), text(kernel.mangled), kNull, kNull,
          function.registers_per_thread, key.grid.x, key.grid.y, key.grid.z, key.block.x, key.block.y, key.block.z,
          function.static_shared_bytes, key.dynamic_shared_bytes, function.local_bytes_per_thread, 0, 0, kNull,
          work.in_graph ? MaybeInteger(1) : kNull, kNull, kNull, key.cluster.x, key.cluster.y, key.cluster.z);
}

void NsysWriter::write_untimed_kernel(const model::Activity& work) {
  if (!untimed_kernels_) {
    connection_.run(fmt::format("CREATE TABLE {} AS SELECT * FROM {} WHERE 0", nsys::kUntimedKernels, nsys::kKernels));
    untimed_kernels_.emplace(insert(nsys::kUntimedKernels, nsys::kKernels));
  }
  write_kernel(*untimed_kernels_, work);
}

// CUPTI's number of a kind of copy, which its name ends with.
std::int64_t copy_kind(const std::string& name) {
  constexpr std::array kNames{"", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    if (name.find(kNames.at(i)) != std::string::npos) return static_cast<std::int64_t>(i);
  }
  return 0;
}

std::size_t NsysWriter::write_activities() {
  store::Statement kernels = insert(nsys::kKernels);
  store::Statement copies = insert("CUPTI_ACTIVITY_KIND_MEMCPY");
  store::Statement sets = insert("CUPTI_ACTIVITY_KIND_MEMSET");
  std::size_t untimed = 0;
  for (const model::Activity& work : timeline_.activities) {
    const model::Kernel& kernel = timeline_.kernels[work.kernel];
    const std::int64_t process = nsys::global_id(pid(process_of(work)));
    const MaybeInteger node = work.in_graph ? MaybeInteger(1) : kNull;
    if (work.config != model::kNone) {
      is_timed(work) ? write_kernel(kernels, work) : write_untimed_kernel(work);
    } else if (!is_timed(work)) {
      ++untimed;
    } else if (kernel.kind == capture::ActivityKind::copy) {
      copies.run(time(work.start_ns), time(work.end_ns), ordinal(work), 1, kNull, work.stream, correlation(work.call), process,
                 work.bytes, copy_kind(kernel.name), kNull, kNull, node);
    } else {
      sets.run(time(work.start_ns), time(work.end_ns), ordinal(work), 1, kNull, work.stream, correlation(work.call), process, 0,
               work.bytes, node, kNull);
    }
  }
  return untimed;
}

void NsysWriter::write_ranges() {
  store::Statement events = insert("NVTX_EVENTS");
  std::unordered_map<std::uint32_t, bool> domains;
  for (std::uint32_t i = 0; i < timeline_.ranges.size(); ++i) {
    const model::Range& range = timeline_.ranges[i];
    const std::int64_t thread = global_tid(range.thread);
    if (range.domain != 0 && domains.emplace(range.domain, true).second) {
      events.run(0, kNull, nsys::kDomain, kNull, kNull, kNull, timeline_.strings[range.domain], thread, kNull, kNull,
                 range.domain, kNull);
    }
    const bool is_mark = range.kind == capture::RangeKind::mark;
    const std::int64_t type = is_mark                                       ? nsys::kMark
                              : range.kind == capture::RangeKind::start_end ? nsys::kStartEnd
                                                                            : nsys::kPushPop;
    const MaybeInteger end = is_mark || !range.closed ? kNull : MaybeInteger(time(range.end_ns));
    events.run(time(range.start_ns), end, type, i, kNull, kNull, kNull, thread, thread, text(model::message_of(timeline_, range)),
               range.domain, kNull);
  }
}

}  // namespace

Exported write_nsys_sqlite(const Run& run, const std::filesystem::path& file) {
  store::Connection connection(file, store::Access::build);
  store::Transaction transaction(connection);
  const Exported exported = NsysWriter(run, connection).write();
  transaction.commit();
  return exported;
}

}  // namespace dlkprof::exports
