#include <utility>
#include <vector>

#include "store/columns.h"
#include "store/diagnosis.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

Column of_aggregation() { return reference("aggregation", "aggregation", ""); }
Column by_rank(const char* order) { return number("rank", "", std::string("From 0, ") + order + "."); }

// The columns of a model::Stats.
std::vector<Column> stats_columns(const std::string& name, const std::string& meaning) {
  return {number(name + "_n", "", "How many instances the next three are of."), number(name + "_total_ns", "ns", meaning),
          number(name + "_min_ns", "ns", ""), number(name + "_max_ns", "ns", "")};
}

std::vector<Column> tensor_cores() {
  return {flag("uses_tc", "Uses tensor cores."), text("tc_source", "How that is known: unknown, name or counter.")};
}

// What is known of the rows of table counter that belong to this row.
std::vector<Column> counted_columns() {
  return {number("samples", "launches", "Measured behind its counters."),
          number("covered_ns", "ns", "Its GPU time in launch configurations that were measured."),
          text("collected_by", "How they were measured: kernel replay, iteration replay, or both; empty: not known."),
          text("cache_control", "none: caches as they were left, all: flushed before each pass, or both; empty: not known.")};
}

constexpr const char* kCpu = "Length on the CPU.";
constexpr const char* kGpu = "Sum over its own kernels, copies and sets.";
constexpr const char* kOverhead = "On the CPU outside of CUDA calls.";
constexpr const char* kIdle = "Between its kernels, when none of them ran.";

Table aggregation_table() {
  return {"aggregation",
          "One folding of the timeline, and the range of iterations that its figures are of. Views show the last.",
          {id("From 1."), number("made_unix_ns", "ns since 1970", ""), text("dlkprof_version", "That made it."),
           text("key_node_asked", "With --key_node; empty: found."),
           text("domains", "NVTX domains that counted, with commas between; empty: all."),
           nullable(number("iter_start_asked", "", "With --iter_start.")),
           nullable(number("iter_stop_asked", "", "With --iter_stop.")),
           text("key_node", "Name of the op whose end parts iterations."),
           text("key_node_source", "How it was found: none, asked, framework or repetition."),
           number("key_nodes_found", "", "Its instances; iterations are one more."),
           number("first_iteration", "", "That figures are of."), number("last_iteration", "", "That figures are of, inclusive."),
           text("range_source", "How these were chosen: all, as no iteration is whole; found, the steady range; or asked."),
           nullable(number("steady_first", "", "Of the steady range; NULL: no iteration is whole.")),
           nullable(number("steady_last", "", "Of the steady range, inclusive."))}};
}

Table op_table() {
  return {"op",
          "A unique operation: all instances of one name, type, direction and framework.",
          {of_aggregation(), id("From 0."), text("op_id", "Unique, and the same for the same program."),
           text("name", "Path of what encloses it: /net/layer1/conv1."), text("type", "aten::conv2d"),
           text("direction", "fprop, bprop or empty."), text("framework", "That named it."),
           text("data_types", "Of its first instance's inputs."), text("input_shapes", "Of its first instance."),
           nullable(reference("op_group", "op_group", "The group node it lies in.")),
           flag("eligible", "Can use tensor cores, by type and data types."),
           flag("leaf", "No range lies inside any of its instances.")},
          2};
}

Table op_stats_table() {
  return {"op_stats", "Figures of an op, accumulated over its instances.",
          concatenate({{of_aggregation(), by_rank("by GPU time, then CPU time, falling"), reference("op", "op", "")},
                       stats_columns("cpu", kCpu),
                       stats_columns("gpu", kGpu),
                       stats_columns("overhead", kOverhead),
                       stats_columns("idle", kIdle),
                       stats_columns("mapped", "From its first kernel's start to its last one's end."),
                       tensor_cores(),
                       {number("tc_gpu_ns", "ns", "In kernels that use tensor cores.")},
                       counted_columns()}),
          2};
}

Table kernel_stats_table() {
  return {"kernel_stats", "Figures of a kernel, copy or set within one op.",
          concatenate(
              {{of_aggregation(), by_rank("by GPU time, falling"), reference("kernel", "kernel", ""), reference("op", "op", "")},
               stats_columns("gpu", "On the GPU."),
               stats_columns("api", "On the CPU, in the CUDA calls that caused them."),
               tensor_cores(),
               counted_columns()}),
          2};
}

Table op_type_stats_table() {
  return {"op_type_stats", "Figures of all ops of one type.",
          concatenate({{of_aggregation(), by_rank("by GPU time, falling"), text("type", ""), number("nodes", "", "Its ops."),
                        flag("eligible", "Can use tensor cores."), flag("uses_tc", "Uses tensor cores.")},
                       stats_columns("cpu", kCpu),
                       stats_columns("gpu", kGpu),
                       stats_columns("overhead", kOverhead),
                       stats_columns("idle", kIdle),
                       counted_columns()}),
          2};
}

Table group_stats_table() {
  return {"group_stats", "Figures of a group node: a value an iteration, of which overlapping time counts once.",
          concatenate({{of_aggregation(), by_rank("by name"), reference("op_group", "op_group", ""),
                        number("leaf_instances", "", "Instances of ops below it."),
                        number("eligible_leaves", "", "Ops that can use tensor cores."),
                        number("tc_leaves", "", "Ops that use tensor cores.")},
                       stats_columns("cpu", kCpu),
                       stats_columns("gpu", "In kernels of ops below it."),
                       stats_columns("overhead", kOverhead),
                       stats_columns("idle", "When none of its kernels ran.")}),
          2};
}

std::vector<Column> ops_line(const std::string& name, const std::string& meaning) {
  return {number(name + "_gpu_ns", "ns", meaning), nullable(number(name + "_cpu_ns", "ns", "")), number(name + "_count", "", "")};
}

std::vector<Column> left_out(const std::string& name, const std::string& meaning) {
  return {number(name + "_iterations", "", meaning), number(name + "_wall_ns", "ns", ""), number(name + "_gpu_ns", "ns", "")};
}

Table summary_stats_table() {
  return {"summary_stats", "Figures of the whole. Shares leave out what those before them hold, and are means over GPUs.",
          concatenate(
              {{of_aggregation(), number("wall_ns", "ns", ""),
                nullable(real("tc_utilization_pct", "%", "Of the kernel time of eligible ops; NULL: there are none.")),
                real("gpu_pct", "%", "A GPU is active."), real("tc_pct", "%", "Kernels that use tensor cores are active."),
                real("non_tc_pct", "%", "Other kernels are active."), real("memory_pct", "%", "Copies and sets are active."),
                real("dataloader_pct", "%", "The data loader is active."), real("io_pct", "%", "The CPU reads or writes files."),
                real("cpu_pct", "%", "The CPU is active."), real("other_pct", "%", "None of these."),
                number("total_iterations", "", ""), number("aggregated_iterations", "", ""), number("start_iteration", "", ""),
                number("stop_iteration", "", ""), real("mean_iteration_ns", "ns", ""),
                real("iteration_deviation_ns", "ns", "Standard deviation of the sample.")},
               ops_line("all_ops", "All ops."),
               ops_line("tc_ops", "Ops that use tensor cores."),
               ops_line("eligible_without_tc", "Ops that can use tensor cores and do not."),
               ops_line("other_ops", "All other ops."),
               ops_line("all_kernels", "All kernels, copies and sets."),
               ops_line("tc_kernels", "Kernels that use tensor cores."),
               ops_line("memory", "Copies and sets."),
               ops_line("other_kernels", "All other kernels."),
               {number("graph_gpu_ns", "ns", "In kernels of CUDA graphs."), real("median_iteration_ns", "ns", "")},
               left_out("before", "Warm-up: iterations before those aggregated."),
               left_out("after", "Iterations after those aggregated.")})};
}

std::vector<Table> with_diagnosis(std::vector<Table> tables) {
  for (Table& table : diagnosis_tables()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace

std::span<const Table> aggregation_tables() {
  static const std::vector<Table> tables = with_diagnosis(
      {aggregation_table(),
       Table{"op_group",
             "A group node: a node of the op tree that has others below it.",
             {of_aggregation(), id("From 0."), text("name", "Path."), nullable(reference("parent", "op_group", ""))},
             2},
       op_table(),
       Table{"iteration",
             "An iteration: from one end of the key node to before the next.",
             {of_aggregation(), id("From 0."), number("start_ns", "ns", "Of CLOCK_MONOTONIC."),
              number("stop_ns", "ns", "Of CLOCK_MONOTONIC, inclusive.")},
             2},
       Table{"placement",
             "Where folding put what a GPU did.",
             {of_aggregation(), reference("activity", "activity", ""), reference("op", "op", "That launched it."),
              reference("iteration", "iteration", "In which it was called."),
              nullable(reference("range", "range", "The instance of the op; NULL: outside of every range."))},
             2},
       op_stats_table(),
       Table{"op_kernel",
             "That an op ran a kernel.",
             {of_aggregation(), reference("op", "op", ""), reference("kernel", "kernel", ""),
              flag("uses_tc", "1: using tensor cores; the kernel may be here both ways.")},
             4},
       kernel_stats_table(), op_type_stats_table(), group_stats_table(), summary_stats_table(),
       Table{"counter",
             "Hardware counters of a row of figures: ratios are means weighted by GPU time, counts are scaled from the launches "
             "measured to all of the row's launches of their configurations (docs/diagnosis.md).",
             {of_aggregation(), number("kind", "", "Of row: 0 op_stats, 1 kernel_stats, 2 op_type_stats."),
              number("rank", "", "Of that row."), text("metric", "As NVPerf has it."),
              nullable(real("value", "of the metric", "NULL: nothing is left of what was measured, as it cannot be.")),
              nullable(real("measured", "of the metric",
                            "Of counts: the sum over the launches measured; NULL of all else, and of samples.")),
              nullable(number("measured_on", "launches", "That this is the sum of.")),
              nullable(number("scaled_to", "launches", "Of counts: those that value stands for.")),
              flag("unreliable", "1: values above 100 % were left out.")},
             4}});
  return tables;
}

}  // namespace dlkprof::store
