// What captures say happened: the columns of its tables (cells.h). Rows that the model has no struct for have one here.
#pragma once

#include <string>

#include "model/aggregate/tensor_core_use.h"
#include "model/fold/time_arithmetic.h"
#include "model/timeline/timeline.h"
#include "store/cells.h"

namespace dlkprof::store {

inline constexpr const char* kOrdinal = "CUDA's number of the GPU in that process.";

struct About {
  std::string version;
  std::int64_t written_unix_ns = 0, first_ns = 0, last_ns = 0;
};
void columns(const auto& visit, Of<About> auto& row) {
  visit(Head{"about", "The one row that says what this database is."}, row_id("0."),
        text("dlkprof_version", row.version, "That wrote it."), number("written_unix_ns", row.written_unix_ns, "ns since 1970"),
        any_time("first_ns", row.first_ns, "The first event."),
        time_from(row.first_ns, "last_ns", row.last_ns, "The last event."));
}

void columns(const auto& visit, Of<model::Process> auto& row) {
  auto& record = row.record;
  visit(Head{"process", "A process that was profiled."}, row_id("From 0."), number("pid", record.pid),
        number("parent_pid", record.parent_pid),
        number("start_unix_ns", record.start_unix_ns, "ns since 1970", "When its capture was opened."),
        text("host", record.host, "Name of the machine."), text("dlkprof_version", record.dlkprof_version, "That collected it."),
        number("cupti_version", record.cupti_version, "", "As cuptiGetVersion gives it."),
        number("driver_version", record.driver_version, "", "1000 * major + 10 * minor of the CUDA driver."),
        text("options_json", record.options_json, "What was asked for when it was collected."),
        number("monotonic_ns", row.clock.monotonic_ns, "ns", "Read together with unix_ns: how times relate to the wall clock."),
        number("unix_ns", row.clock.unix_ns, "ns since 1970", "Read together with monotonic_ns."),
        number("gpu_early_ns", row.gpu_early_ns, "ns", "GPU times may be too early by at most this; -1: not known."),
        number("gpu_late_ns", row.gpu_late_ns, "ns", "GPU times may be too late by at most this; -1: not known."),
        number("held_ns", row.held_ns, "ns", "That the profiler held it for, to measure; cut out of all times."),
        number("graph_launches", row.graph_launches, "",
               "Of CUDA graphs, whose kernels are not counted as launches but where they were measured one by one."),
        number("graph_gpu_ns", row.graph_gpu_ns, "ns", "GPU time of the kernels in them."),
        flag("timing_complete", row.timing_complete, "0: only some launches were timed, to leave the program its speed."),
        flag("ended", row.ended, "0: its capture was not closed, as of a program that was killed; counts may be behind."),
        number("damaged_records", row.damaged_records, "", "Of its capture, which were left out."),
        text("capture", row.capture, "The name of its file."));
}

struct Argument {
  std::uint32_t process = 0;
  std::uint64_t position = 0;
  std::string value;
};
void columns(const auto& visit, Of<Argument> auto& row) {
  visit(Head{"argument", "The command line of a process.", 2}, reference("process", row.process, "process"),
        number("position", row.position, "", "From 0, which is the program."), text("value", row.value));
}

void columns(const auto& visit, Of<model::Device> auto& row) {
  auto& gpu = row.record;
  visit(Head{"device", "A GPU."}, row_id("From 0."),
        number("ordinal", gpu.index, "", "CUDA's number of it in the process that saw it first."), text("name", gpu.name),
        text("chip", gpu.chip, "NVPerf's name: GH100."), text("pci_bus_id", gpu.pci_bus_id),
        number("cc_major", gpu.cc_major, "", "Compute capability."), number("cc_minor", gpu.cc_minor, "", "Compute capability."),
        number("sm_count", gpu.sm_count, "", "Streaming multiprocessors."), number("warp_size", gpu.warp_size, "threads"),
        number("max_threads_per_sm", gpu.max_threads_per_sm, "threads"),
        number("max_threads_per_block", gpu.max_threads_per_block, "threads"),
        number("max_blocks_per_sm", gpu.max_blocks_per_sm, "blocks"), number("registers_per_sm", gpu.registers_per_sm),
        number("registers_per_block", gpu.registers_per_block),
        number("shared_per_sm", gpu.shared_per_sm, "bytes", "Shared memory."),
        number("shared_per_block", gpu.shared_per_block, "bytes", "Shared memory."),
        number("shared_per_block_optin", gpu.shared_per_block_optin, "bytes", "Shared memory, where a kernel asks for more."),
        number("shared_reserved_per_block", gpu.shared_reserved_per_block, "bytes", "Shared memory that CUDA itself takes."),
        number("l2_bytes", gpu.l2_bytes, "bytes", "Of the L2 cache."), number("memory_bytes", gpu.memory_bytes, "bytes"),
        number("sm_clock_khz", gpu.sm_clock_khz, "kHz", "The highest."),
        number("memory_clock_khz", gpu.memory_clock_khz, "kHz", "The highest."));
}

void columns(const auto& visit, Of<model::Detachment> auto& row) {
  visit(Head{"detachment", "The profiler had all that it wanted of a process, which ran on by itself."}, row_id("From 0."),
        reference("process", row.process, "process"), number("alone_ns", row.alone_ns, "ns", "Until its end; 0: not known."),
        flag("cupti_left", row.cupti_left, "0: CUPTI stayed in the process."));
}

void columns(const auto& visit, Of<model::LoneStep> auto& row) {
  visit(Head{"lone_step", "A step of the program's loop that began after the profiler had let go of it."}, row_id("From 0."),
        reference("process", row.process, "process"), text("marker", row.marker, "The NVTX message that marks it."),
        any_time("start_ns", row.start_ns));
}

struct ProcessDevice {
  std::uint32_t process = 0, ordinal = 0, device = 0;
};
void columns(const auto& visit, Of<ProcessDevice> auto& row) {
  visit(Head{"process_device", "A GPU that a process used.", 2}, reference("process", row.process, "process"),
        number("ordinal", row.ordinal, "", "CUDA's number of it in that process."), reference("device", row.device, "device"));
}

void columns(const auto& visit, Of<model::Thread> auto& row) {
  visit(Head{"thread", "A thread of a process."}, row_id("From 0."), reference("process", row.process, "process"),
        number("tid", row.tid, "", "As gettid(2) gives it."));
}

// Rows that are one text.
struct String {
  std::string text;
};
struct Metric {
  std::string text;
};
struct PcReason {
  std::string text;
};
struct PcFile {
  std::string text;
};
struct SassMetric {
  std::string text;
};
void columns(const auto& visit, Of<String> auto& row) {
  visit(Head{"string", "Text that others name by its id."}, row_id("From 0, which is the empty text."), text("value", row.text));
}
void columns(const auto& visit, Of<Metric> auto& row) {
  visit(Head{"metric", "A metric that was measured."}, row_id("From 0."), text("name", row.text, "As NVPerf has it."));
}
void columns(const auto& visit, Of<PcReason> auto& row) {
  visit(Head{"pc_reason", "What a warp may be found waiting for by PC sampling."}, row_id("From 0."),
        text("name", row.text, "As CUPTI has it."));
}
void columns(const auto& visit, Of<SassMetric> auto& row) {
  visit(Head{"sass_metric", "What was counted of each instruction."}, row_id("From 0."),
        text("name", row.text, "As CUPTI has it: smsp__sass_inst_executed."));
}
void columns(const auto& visit, Of<PcFile> auto& row) {
  visit(Head{"pc_file", "A source file of kernels."}, row_id("From 0, which is the empty text: not known."),
        text("path", row.text));
}

void columns(const auto& visit, Of<model::Range> auto& row) {
  visit(Head{"range",
             "An NVTX range, or a mark, whose times are the same. Ordered by start, an enclosing range before those inside it."},
        row_id("From 0, in order."), time_in_order("start_ns", row.start_ns), time_from(row.start_ns, "end_ns", row.end_ns),
        nullable(reference("parent", row.parent, "range", "The innermost range open on its thread when it began.")),
        reference("thread", row.thread, "thread", "That it began on."), reference("message", row.message, "string"),
        reference("domain", row.domain, "string", "0: the default domain."),
        up_to("kind", row.kind, capture::RangeKind::mark, "0 push/pop, 1 start/end, 2 mark."),
        flag("closed", row.closed, "0: the program never ended it."),
        nullable(up_to("sequence", row.sequence, model::kNone - 1,
                       "PyTorch's seq, which the message lacks. View ranges puts it back.")),
        nullable(up_to("op_id", row.op_id, model::kNone - 1, "PyTorch's op_id, which the message lacks as well.")),
        nullable(up_to("message_bytes", row.message_bytes, model::kNone - 1, "That NCCL sends or receives.")));
}

void columns(const auto& visit, Of<model::Call> auto& row) {
  visit(Head{"call", "A CUDA call that gave work to a GPU or waited for one. Ordered by start."}, row_id("From 0, in order."),
        time_in_order("start_ns", row.start_ns), time_from(row.start_ns, "end_ns", row.end_ns),
        nullable(reference("range", row.range, "range", "The innermost range open around it.")),
        reference("thread", row.thread, "thread"), reference("name", row.name, "string", "cuLaunchKernel."));
}

void columns(const auto& visit, Of<model::Kernel> auto& row) {
  visit(Head{"kernel", "A kernel function, or a kind of copy or set, by name."}, row_id("From 0."),
        up_to("kind", row.kind, capture::ActivityKind::set, "0 kernel, 1 copy, 2 set."),
        text("mangled", row.mangled, "The name in the machine code."),
        text("name", row.name, "Without namespaces, template arguments and parameters."),
        text("long_name", row.long_name, "The whole name in C++."));
}

auto dimensions(const char* prefix, Of<capture::Dim3> auto& size, const char* unit) {
  return group(prefix, number("_x", size.x, unit), number("_y", size.y, unit), number("_z", size.z, unit));
}

void columns(const auto& visit, Of<model::Config> auto& row) {
  auto& key = row.key;
  visit(Head{"config", "A launch configuration of a process: launches that agree in all of these."}, row_id("From 0."),
        reference("process", row.process, "process"), number("device", key.device, "", kOrdinal),
        number("function", key.function, "", "The capture's number of the kernel function; 0: not known."),
        dimensions("grid", key.grid, "blocks"), dimensions("block", key.block, "threads"),
        dimensions("cluster", key.cluster, "blocks"),
        number("dynamic_shared_bytes", key.dynamic_shared_bytes, "bytes", "Shared memory asked for at the launch."),
        nullable(reference("kernel", row.kernel, "kernel", "That it launches.")));
}

void columns(const auto& visit, Of<model::LoadedFunction> auto& row) {
  auto& function = row.record;
  visit(
      Head{"function", "What the driver says of a kernel function that a process launched: what its occupancy follows from.", 2},
      reference("process", row.process, "process"),
      number("number", function.id, "", "The capture's number of it, as in config.function."),
      number("registers_per_thread", function.registers_per_thread),
      number("static_shared_bytes", function.static_shared_bytes, "bytes", "Of a block."),
      number("local_bytes_per_thread", function.local_bytes_per_thread, "bytes"),
      number("constant_bytes", function.constant_bytes, "bytes"),
      number("max_threads_per_block", function.max_threads_per_block, "threads", "That it may be launched with."),
      number("shared_carveout_percent", function.shared_carveout_percent, "%",
             "Of shared memory that it prefers; -1: the driver's choice."),
      number("binary_version", function.binary_version, "", "10 * major + minor of the machine code."));
}

// The times of an activity, which are both NULL where it was not timed.
template <typename Activity>
struct ActivityTimes {
  Activity& activity;

  void describe(std::vector<Column>& to) const {
    to.push_back({"start_ns", ColumnType::integer, "ns", "On the GPU. NULL: not timed.", true});
    to.push_back({"end_ns", ColumnType::integer, "ns", "On the GPU.", true});
  }
  [[nodiscard]] auto written(const Place& /*place*/) const {
    const bool timed = model::is_timed(activity);
    const auto time = [timed](std::int64_t value) { return timed ? std::optional(value) : std::nullopt; };
    return std::tuple(time(activity.start_ns), time(activity.end_ns));
  }
  void read(Rows& rows) const {
    if (rows.null()) {
      if (!rows.null()) rows.fail("it ended but did not start");
      return;
    }
    activity.start_ns = rows.time_in_order();
    activity.end_ns = rows.time(activity.start_ns);
  }
};
template <typename Activity>
ActivityTimes<Activity> activity_times(Activity& activity) {
  return {activity};
}

struct ActivityRow {
  model::Activity activity;
  model::TensorCoreUse use;
};
void columns(const auto& visit, Of<ActivityRow> auto& row) {
  auto& activity = row.activity;
  visit(Head{"activity", "What a GPU did: a kernel's run, a copy or a set of memory. Ordered by start."},
        row_id("From 0, in order."), activity_times(activity), number("bytes", activity.bytes, "bytes", "Copied or set."),
        nullable(number("launch_index", activity.launch_index, "", "Position among all kernel launches of its process, from 0."),
                 capture::kNoLaunch),
        nullable(reference("call", activity.call, "call", "That caused it.")), reference("kernel", activity.kernel, "kernel"),
        nullable(reference("config", activity.config, "config", "Of kernels.")), reference("device", activity.device, "device"),
        number("stream", activity.stream, "", "As CUPTI numbers them."),
        flag("in_graph", activity.in_graph, "1: of a CUDA graph, whose launch was its call."),
        nullable(
            reference("graph_node", activity.graph_node, "graph_node", "Of a CUDA graph: what was captured, as far as known.")),
        flag("replayed", activity.replayed, "1: measured, so it has no time of its own: its length is gpu__time_duration."),
        flag("estimated", activity.estimated,
             "1: that was not measured of it: its length is the mean of others of its configuration."),
        flag("uses_tc", derived(row.use.uses), "1: uses tensor cores."),
        number("tc_source", derived(row.use.source), "", "How that is known: 0 not, 1 by name, 2 by counter."));
}

void columns(const auto& visit, Of<model::GraphNode> auto& row) {
  visit(Head{"graph_node", "What was captured into a CUDA graph, or added to one."}, row_id("From 0."),
        nullable(reference("range", row.range, "range", "The innermost open then on that thread.")),
        nullable(reference("capture_range", row.capture_range, "range", "The innermost open where capturing its graph began.")),
        number("graph", row.graph, "", "Number of that graph."),
        flag("in_child", row.in_child, "1: its graph was put into another before that was instantiated."));
}

void columns(const auto& visit, Of<capture::Fact> auto& row) {
  visit(Head{"fact", "What the program's framework said of itself."}, row_id("From 0."), text("source", row.source, "pytorch"),
        text("name", row.name, "cudnn.benchmark"), text("value", row.value, "false"));
}

void columns(const auto& visit, Of<capture::NoticeRecord> auto& row) {
  visit(Head{"notice", "What dlkprof had to say of a capture."}, row_id("From 0."),
        up_to("severity", row.severity, capture::Severity::error, "0 info, 1 warning, 2 error."), text("what", row.what),
        text("detail", row.detail), text("remedy", row.remedy, "What can be done."));
}

// A number of 64 bits that SQLite keeps as one with a sign.
struct WithSign : AsItIs {
  [[nodiscard]] std::int64_t written(std::uint64_t value) const { return static_cast<std::int64_t>(value); }
  void read(Rows& rows, std::uint64_t& value, const char* /*unit*/) const {
    std::int64_t bits = 0;
    rows.take(bits);
    value = static_cast<std::uint64_t>(bits);
  }
};
template <typename T>
Cell<T&, WithSign> bits(const char* name, T& value, const char* meaning) {
  return {name, ColumnType::integer, "", meaning, value, {}};
}

void columns(const auto& visit, Of<model::PcCode> auto& row) {
  visit(Head{"pc_code", "Machine code of kernel functions that were sampled or counted."}, row_id("From 0."),
        number("elf_bytes", row.elf_bytes, "bytes", "Before compression."),
        blob("zstd_elf", row.zstd_elf, "An ELF file as nvdisasm reads it, compressed with zstd."));
}

void columns(const auto& visit, Of<model::PcFunction> auto& row) {
  visit(Head{"pc_function", "A kernel function that was sampled or counted, in one piece of machine code."}, row_id("From 0."),
        reference("kernel", row.kernel, "kernel"), bits("cubin_crc", row.cubin_crc, "CUPTI's checksum of the machine code."),
        nullable(reference("code", row.code, "pc_code", "Its machine code.")));
}

void columns(const auto& visit, Of<model::PcInstruction> auto& row) {
  visit(Head{"pc_instruction", "An instruction that was sampled or counted. Ordered by function and offset."},
        row_id("From 0, in order."), reference("function", row.function, "pc_function"),
        number("byte_offset", row.offset, "bytes", "From the function's start."),
        reference("file", row.file, "pc_file", "Of its source line."), number("line", row.line, "", "From 1; 0: not known."));
}

void columns(const auto& visit, Of<model::PcStall> auto& row) {
  visit(Head{"pc_stall", "How often warps were found at an instruction waiting for something.", 2},
        reference("instruction", row.instruction, "pc_instruction"), reference("reason", row.reason, "pc_reason"),
        number("samples", row.samples),
        number("cycles", row.cycles, "cycles", "That the samples stand for: their periods, added up."));
}

void columns(const auto& visit, Of<model::SassCount> auto& row) {
  visit(Head{"sass_count", "What an instruction did in the launch of a configuration whose instructions were counted.", 3},
        reference("instruction", row.instruction, "pc_instruction"), reference("config", row.config, "config"),
        reference("metric", row.metric, "sass_metric"), number("value", row.value, "of the metric", "Zeros have no row."));
}

void columns(const auto& visit, Of<model::PcTotals> auto& row) {
  visit(Head{"pc_total", "All samples of PC sampling on a GPU in a process.", 2}, reference("process", row.process, "process"),
        number("device", row.device, "", kOrdinal),
        number("shortest_period_log2", row.shortest_log2, "", "The period was of 2^n cycles; it grows where samples are lost."),
        number("longest_period_log2", row.longest_log2),
        number("samples", row.samples, "", "Taken by the hardware, all of the following included."),
        number("foreign_samples", row.foreign, "", "Of no kernel of the program's."),
        number("dropped_samples", row.dropped, "", "By the hardware."),
        number("overflows", row.overflows, "", "Times that the hardware's buffer was found full."));
}

}  // namespace dlkprof::store
