#include "base/clock.h"
#include "dlkprof/version.h"
#include "model/aggregate/tensor_core_use.h"
#include "store/aggregation.h"
#include "store/bulk_insert.h"
#include "store/database.h"
#include "store/measured.h"
#include "store/new_file.h"
#include "store/pc_tables.h"
#include "store/rows.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

using model::Timeline;

void insert_processes(const Connection& connection, const Timeline& timeline) {
  Statement processes = insert_into(connection, "process");
  Statement arguments = insert_into(connection, "argument");
  std::uint32_t id = 0;
  for (const model::Process& process : timeline.processes) {
    const capture::ProcessRecord& record = process.record;
    processes.run(id, record.pid, record.parent_pid, record.start_unix_ns, record.host, record.dlkprof_version,
                  record.cupti_version, record.driver_version, record.options_json, process.clock.monotonic_ns,
                  process.clock.unix_ns, process.gpu_early_ns, process.gpu_late_ns, process.held_ns, process.graph_launches,
                  process.graph_gpu_ns, process.timing_complete, process.ended, process.damaged_records, process.capture);
    std::uint32_t position = 0;
    for (const std::string& argument : record.arguments) arguments.run(id, position++, argument);
    ++id;
  }
  id = 0;
  Statement threads = insert_into(connection, "thread");
  for (const model::Thread& thread : timeline.threads) threads.run(id++, thread.process, thread.tid);
}

void insert_devices(const Connection& connection, const Timeline& timeline) {
  Statement devices = insert_into(connection, "device");
  std::uint32_t id = 0;
  for (const auto& [record] : timeline.devices) {
    devices.run(id++, record.index, record.name, record.chip, record.pci_bus_id, record.cc_major, record.cc_minor,
                record.sm_count, record.warp_size, record.max_threads_per_sm, record.max_threads_per_block,
                record.max_blocks_per_sm, record.registers_per_sm, record.registers_per_block, record.shared_per_sm,
                record.shared_per_block, record.shared_per_block_optin, record.shared_reserved_per_block, record.l2_bytes,
                record.memory_bytes, record.sm_clock_khz, record.memory_clock_khz);
  }
}

void insert_process_devices(const Connection& connection, const Timeline& timeline) {
  Statement rows = insert_into(connection, "process_device");
  for (std::uint32_t process = 0; process < timeline.processes.size(); ++process) {
    for (const auto& [ordinal, device] : timeline.processes[process].devices) rows.run(process, ordinal, device);
  }
}

void insert_ranges(const Connection& connection, const Timeline& timeline) {
  Statement strings = insert_into(connection, "string");
  std::uint32_t id = 0;
  for (const std::string& text : timeline.strings) strings.run(id++, text);
  id = 0;
  BulkInsert ranges(connection, "range");
  for (const model::Range& range : timeline.ranges) {
    ranges.add(id++, range.start_ns, range.end_ns, or_null(range.parent), range.thread, range.message, range.domain, range.kind,
               range.closed, or_null(range.sequence), or_null(range.op_id));
  }
  ranges.finish();
  id = 0;
  BulkInsert calls(connection, "call");
  for (const model::Call& call : timeline.calls)
    calls.add(id++, call.start_ns, call.end_ns, or_null(call.range), call.thread, call.name);
  calls.finish();
}

void insert_kernels(const Connection& connection, const Timeline& timeline) {
  Statement kernels = insert_into(connection, "kernel");
  std::uint32_t id = 0;
  for (const model::Kernel& kernel : timeline.kernels)
    kernels.run(id++, kernel.kind, kernel.mangled, kernel.name, kernel.long_name);
  id = 0;
  Statement configs = insert_into(connection, "config");
  for (const auto& [process, key, kernel] : timeline.configs) {
    configs.run(id++, process, key.device, key.function, key.grid.x, key.grid.y, key.grid.z, key.block.x, key.block.y,
                key.block.z, key.cluster.x, key.cluster.y, key.cluster.z, key.dynamic_shared_bytes, or_null(kernel));
  }
}

void insert_functions(const Connection& connection, const Timeline& timeline) {
  Statement functions = insert_into(connection, "function");
  for (const auto& [process, record] : timeline.functions) {
    functions.run(process, record.id, record.registers_per_thread, record.static_shared_bytes, record.local_bytes_per_thread,
                  record.constant_bytes, record.max_threads_per_block, record.shared_carveout_percent, record.binary_version);
  }
}

void insert_activities(const Connection& connection, const Timeline& timeline) {
  BulkInsert activities(connection, "activity");
  const model::TensorCoreTable tensor_cores(timeline);
  std::uint32_t id = 0;
  for (const model::Activity& activity : timeline.activities) {
    const bool timed = activity.start_ns != 0 || activity.end_ns != 0;
    const auto time = [timed](std::int64_t value) { return timed ? std::optional(value) : std::nullopt; };
    const auto launch = activity.launch_index == capture::kNoLaunch ? std::nullopt : std::optional(activity.launch_index);
    const model::TensorCoreUse use = tensor_cores.of(activity);
    activities.add(id++, time(activity.start_ns), time(activity.end_ns), activity.bytes, launch, or_null(activity.call),
                   activity.kernel, or_null(activity.config), activity.device, activity.stream, activity.in_graph,
                   activity.replayed, use.uses, use.source);
  }
  activities.finish();
}

void insert_words(const Connection& connection, const Timeline& timeline) {
  std::uint32_t id = 0;
  Statement facts = insert_into(connection, "fact");
  for (const capture::Fact& fact : timeline.facts) facts.run(id++, fact.source, fact.name, fact.value);
  id = 0;
  Statement notices = insert_into(connection, "notice");
  for (const capture::NoticeRecord& notice : timeline.notices)
    notices.run(id++, notice.severity, notice.what, notice.detail, notice.remedy);
  insert_into(connection, "about").run(0, DLKPROF_VERSION, unix_now_ns(), timeline.first_ns, timeline.last_ns);
}

void insert_timeline(const Connection& connection, const Timeline& timeline) {
  insert_processes(connection, timeline);
  insert_devices(connection, timeline);
  insert_process_devices(connection, timeline);
  insert_ranges(connection, timeline);
  insert_kernels(connection, timeline);
  insert_functions(connection, timeline);
  insert_activities(connection, timeline);
  insert_words(connection, timeline);
  insert_measured(connection, timeline);
  insert_pc_samples(connection, timeline.pc_samples);
}

void create_schema(Connection& connection) {
  connection.run("PRAGMA application_id=" + std::to_string(kApplicationId));
  connection.run("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  for (const Table& table : timeline_tables()) connection.run(create_statement(table));
  for (const Table& table : aggregation_tables()) connection.run(create_statement(table));
  for (const View& view : views()) connection.run(create_statement(view));
}

}  // namespace

void write_database(const std::filesystem::path& path, const model::Profile& profile, const model::Diagnosis& diagnosis) {
  NewFile file(path);
  {
    Connection connection(file.path(), Access::build);
    connection.now_and_then([&file] { file.release_cache(); });
    Transaction transaction(connection);
    create_schema(connection);
    insert_timeline(connection, profile.timeline);
    insert_aggregation(connection, 1, profile, diagnosis);
    transaction.commit();
  }
  file.move_to_target();
}

}  // namespace dlkprof::store
