#include <utility>
#include <vector>

#include "store/columns.h"
#include "store/pc_tables.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

constexpr const char* kClock = "ns";  // of CLOCK_MONOTONIC

Table process_table() {
  return {"process",
          "A process that was profiled.",
          {id("From 0."),
           number("pid", "", ""),
           number("parent_pid", "", ""),
           number("start_unix_ns", "ns since 1970", "When its capture was opened."),
           text("host", "Name of the machine."),
           text("dlkprof_version", "That collected it."),
           number("cupti_version", "", "As cuptiGetVersion gives it."),
           number("driver_version", "", "1000 * major + 10 * minor of the CUDA driver."),
           text("options_json", "What was asked for when it was collected."),
           number("monotonic_ns", kClock, "Read together with unix_ns: how times relate to the wall clock."),
           number("unix_ns", "ns since 1970", "Read together with monotonic_ns."),
           number("gpu_early_ns", "ns", "GPU times may be too early by at most this; -1: not known."),
           number("gpu_late_ns", "ns", "GPU times may be too late by at most this; -1: not known."),
           number("held_ns", "ns", "That the profiler held it for, to measure; cut out of all times."),
           number("graph_launches", "", "Of CUDA graphs, whose kernels are not measured one by one."),
           number("graph_gpu_ns", "ns", "GPU time of the kernels in them."),
           flag("timing_complete", "0: only some launches were timed, to leave the program its speed."),
           flag("ended", "0: its capture was not closed, as of a program that was killed; counts may be behind."),
           number("damaged_records", "", "Of its capture, which were left out."),
           text("capture", "The name of its file.")}};
}

Table argument_table() {
  return {"argument",
          "The command line of a process.",
          {reference("process", "process", ""), number("position", "", "From 0, which is the program."), text("value", "")},
          2};
}

Table process_device_table() {
  return {"process_device",
          "A GPU that a process used.",
          {reference("process", "process", ""), number("ordinal", "", "CUDA's number of it in that process."),
           reference("device", "device", "")},
          2};
}

Table device_table() {
  return {"device",
          "A GPU.",
          {id("From 0."),
           number("ordinal", "", "CUDA's number of it in the process that saw it first."),
           text("name", ""),
           text("chip", "NVPerf's name: GH100."),
           text("pci_bus_id", ""),
           number("cc_major", "", "Compute capability."),
           number("cc_minor", "", "Compute capability."),
           number("sm_count", "", "Streaming multiprocessors."),
           number("warp_size", "threads", ""),
           number("max_threads_per_sm", "threads", ""),
           number("max_threads_per_block", "threads", ""),
           number("max_blocks_per_sm", "blocks", ""),
           number("registers_per_sm", "", ""),
           number("registers_per_block", "", ""),
           number("shared_per_sm", "bytes", "Shared memory."),
           number("shared_per_block", "bytes", "Shared memory."),
           number("shared_per_block_optin", "bytes", "Shared memory, where a kernel asks for more."),
           number("shared_reserved_per_block", "bytes", "Shared memory that CUDA itself takes."),
           number("l2_bytes", "bytes", "Of the L2 cache."),
           number("memory_bytes", "bytes", ""),
           number("sm_clock_khz", "kHz", "The highest."),
           number("memory_clock_khz", "kHz", "The highest.")}};
}

Table range_table() {
  return {"range",
          "An NVTX range, or a mark, whose times are the same. Ordered by start, an enclosing range before those inside it.",
          {id("From 0, in order."), number("start_ns", kClock, ""), number("end_ns", kClock, ""),
           nullable(reference("parent", "range", "The innermost range open on its thread when it began.")),
           reference("thread", "thread", "That it began on."), reference("message", "string", ""),
           reference("domain", "string", "0: the default domain."), number("kind", "", "0 push/pop, 1 start/end, 2 mark."),
           flag("closed", "0: the program never ended it."),
           nullable(number("sequence", "", "PyTorch's seq, which the message lacks. View ranges puts it back.")),
           nullable(number("op_id", "", "PyTorch's op_id, which the message lacks as well."))}};
}

Table call_table() {
  return {"call",
          "A CUDA call that gave work to a GPU or waited for one. Ordered by start.",
          {id("From 0, in order."), number("start_ns", kClock, ""), number("end_ns", kClock, ""),
           nullable(reference("range", "range", "The innermost range open around it.")), reference("thread", "thread", ""),
           reference("name", "string", "cuLaunchKernel.")}};
}

Table kernel_table() {
  return {"kernel",
          "A kernel function, or a kind of copy or set, by name.",
          {id("From 0."), number("kind", "", "0 kernel, 1 copy, 2 set."), text("mangled", "The name in the machine code."),
           text("name", "Without namespaces, template arguments and parameters."), text("long_name", "The whole name in C++.")}};
}

Table config_table() {
  return {"config",
          "A launch configuration of a process: launches that agree in all of these.",
          {id("From 0."), reference("process", "process", ""), number("device", "", "CUDA's number of the GPU in that process."),
           number("function", "", "The capture's number of the kernel function; 0: not known."), number("grid_x", "blocks", ""),
           number("grid_y", "blocks", ""), number("grid_z", "blocks", ""), number("block_x", "threads", ""),
           number("block_y", "threads", ""), number("block_z", "threads", ""), number("cluster_x", "blocks", ""),
           number("cluster_y", "blocks", ""), number("cluster_z", "blocks", ""),
           number("dynamic_shared_bytes", "bytes", "Shared memory asked for at the launch."),
           nullable(reference("kernel", "kernel", "That it launches."))}};
}

Table function_table() {
  return {"function",
          "What the driver says of a kernel function that a process launched: what its occupancy follows from.",
          {reference("process", "process", ""), number("number", "", "The capture's number of it, as in config.function."),
           number("registers_per_thread", "", ""), number("static_shared_bytes", "bytes", "Of a block."),
           number("local_bytes_per_thread", "bytes", ""), number("constant_bytes", "bytes", ""),
           number("max_threads_per_block", "threads", "That it may be launched with."),
           number("shared_carveout_percent", "%", "Of shared memory that it prefers; -1: the driver's choice."),
           number("binary_version", "", "10 * major + minor of the machine code.")},
          2};
}

Table activity_table() {
  return {
      "activity",
      "What a GPU did: a kernel's run, a copy or a set of memory. Ordered by start.",
      {id("From 0, in order."), nullable(number("start_ns", kClock, "On the GPU. NULL: not timed.")),
       nullable(number("end_ns", kClock, "On the GPU.")), number("bytes", "bytes", "Copied or set."),
       nullable(number("launch_index", "", "Position among all kernel launches of its process, from 0.")),
       nullable(reference("call", "call", "That caused it.")), reference("kernel", "kernel", ""),
       nullable(reference("config", "config", "Of kernels.")), reference("device", "device", ""),
       number("stream", "", "As CUPTI numbers them."), flag("in_graph", "1: of a CUDA graph, whose launch was its call."),
       flag("replayed", "1: its length is gpu__time_duration, measured while it was replayed."),
       flag("uses_tc", "1: uses tensor cores."), number("tc_source", "", "How that is known: 0 not, 1 by name, 2 by counter.")}};
}

Table notice_table() {
  return {"notice",
          "What dlkprof had to say of a capture.",
          {id("From 0."), number("severity", "", "0 info, 1 warning, 2 error."), text("what", ""), text("detail", ""),
           text("remedy", "What can be done.")}};
}

Table metric_set_table() {
  return {"metric_set",
          "The metrics that launches were measured with.",
          {id("From 0."), reference("process", "process", ""), number("number", "", "The capture's number of it."),
           number("device", "", "CUDA's number of the GPU in that process."), number("passes", "", "That they need."),
           text("metrics", "As NVPerf has them, with commas between."),
           text("unavailable", "Asked for, but not offered by this chip or driver, with commas between.")}};
}

Table measured_launch_table() {
  return {"measured_launch",
          "A launch that was measured, and how.",
          {reference("config", "config", "Of the launch."),
           number("position", "", "Among the measured ones of its configuration, from 0."),
           number("launch_index", "", "Among all kernel launches of its process, from 0."),
           number("occurrence", "", "Among all launches of its configuration, from 0."),
           reference("metric_set", "metric_set", "That it was measured with."), number("passes", "", "It was measured in."),
           number("replay_mode", "", "0 not known, 1 kernel replay, 2 iteration replay."),
           number("cache_control", "", "0: caches as they were left, 1: flushed before each pass."),
           number("start_unix_ns", "ns since 1970", ""), number("cost_ns", "ns", "Host time that measuring it took."),
           number("context", "", "As CUPTI numbers them."), number("stream", "", "As CUPTI numbers them."),
           number("tid", "", "As gettid(2) gives it."),
           flag("evaluated_here", "1: its counters were kept, and evaluated when the capture was read."),
           nullable(real("clock_hz", "Hz", "Of the multiprocessors while it was measured; NULL: not measured."))},
          2};
}

Table measured_table() {
  return {"measured",
          "Hardware counters: a metric of one measured launch.",
          {reference("config", "config", "Of the launch."), reference("metric", "metric", ""),
           number("position", "", "Of the launch, as in measured_launch."),
           nullable(real("value", "of the metric", "NULL: none came."))},
          3};
}

Table sampled_table() {
  return {
      "sampled",
      "Hardware counters: a metric of a launch configuration from samples that lay within its launches.",
      {reference("config", "config", ""), reference("metric", "metric", ""), number("samples", "samples", ""),
       number("launches", "launches", "That have samples."), real("mean", "of the metric", ""),
       real("deviation", "of the metric", "Standard deviation of the samples."),
       nullable(real("interval", "of the metric", "Half of the 95 % confidence interval of the mean. NULL: only one launch."))},
      2};
}

Table sample_bin_table() {
  return {"sample_bin",
          "The samples of a stretch of time on a GPU, whatever ran then.",
          {id("From 0, by device, metric and start."), reference("device", "device", ""), reference("metric", "metric", ""),
           number("start_ns", kClock, ""), number("end_ns", kClock, ""), number("samples", "samples", ""),
           real("value", "of the metric", "Their mean.")}};
}

Table measured_figure_table() {
  return {"measured_figure",
          "A metric of a launch configuration, over the launches that were measured alike: a row per replay mode, caches, "
          "metric set and passes. Only what has a value.",
          {reference("config", "config", ""), reference("metric", "metric", ""),
           number("part", "", "Of those measured alike, from 0."), number("n", "launches", "With a value."),
           nullable(real("mean", "of the metric", "NULL, as the next three: beyond what a number can hold.")),
           nullable(real("min", "of the metric", "")), nullable(real("max", "of the metric", "")),
           nullable(real("stddev", "of the metric", "Of the sample (n - 1); NULL where n is 1.")),
           text("replay_mode", "kernel replay or iteration replay; empty: not known."),
           text("cache_control", "none: as they were left, all: flushed before each pass; empty: not known."),
           nullable(number("passes", "", "A launch; NULL: not known.")),
           nullable(reference("metric_set", "metric_set", "NULL: not known.")),
           nullable(real("clock_hz", "Hz", "Mean clock of the multiprocessors meanwhile; NULL: not measured."))},
          3};
}

Table launch_count_table() {
  return {"launch_count",
          "What became of the launches of one configuration.",
          {id("From 0."), reference("process", "process", ""),
           nullable(reference("config", "config", "NULL: all of a function that no filter takes, which are counted together.")),
           nullable(reference("kernel", "kernel", "NULL: not described.")),
           number("device", "", "CUDA's number of the GPU in that process."), number("launches", "launches", "Seen."),
           number("matched", "launches", "That the selector takes."), number("measured", "launches", ""),
           number("near_missed", "launches", "That it would take in another form of their name."),
           number("skipped", "launches", "Selected, but not to be measured."),
           number("timed", "launches", "That activity records timed; measured ones are not among them."),
           number("timed_gpu_ns", "ns", "GPU time of these."),
           number("skip_reason", "", "0 none, 1 cooperative, 2 collective, 3 captured into a graph, 4 failed, 5 unsupported."),
           text("incomplete", "Why it was not measured as often as asked, as in view coverage; empty: it was.")}};
}

}  // namespace

std::span<const Table> timeline_tables() {
  static const std::vector tables = [] {
    std::vector all{
        Table{"about",
              "The one row that says what this database is.",
              {id("0."), text("dlkprof_version", "That wrote it."), number("written_unix_ns", "ns since 1970", ""),
               number("first_ns", kClock, "The first event."), number("last_ns", kClock, "The last event.")}},
        process_table(),
        argument_table(),
        device_table(),
        process_device_table(),
        Table{"thread",
              "A thread of a process.",
              {id("From 0."), reference("process", "process", ""), number("tid", "", "As gettid(2) gives it.")}},
        Table{"string", "Text that others name by its id.", {id("From 0, which is the empty text."), text("value", "")}},
        range_table(),
        call_table(),
        kernel_table(),
        config_table(),
        function_table(),
        activity_table(),
        Table{"fact",
              "What the program's framework said of itself.",
              {id("From 0."), text("source", "pytorch"), text("name", "cudnn.benchmark"), text("value", "false")}},
        notice_table(),
        Table{"metric", "A metric that was measured.", {id("From 0."), text("name", "As NVPerf has it.")}},
        metric_set_table(),
        measured_launch_table(),
        measured_table(),
        measured_figure_table(),
        launch_count_table(),
        sampled_table(),
        sample_bin_table()};
    for (Table& table : pc_tables()) all.push_back(std::move(table));
    return all;
  }();
  return tables;
}

}  // namespace dlkprof::store
