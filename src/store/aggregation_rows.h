// What folding, aggregating and the diagnosis gave: the columns of its tables (cells.h). Rows that the model has no struct for
// have one here. A stored run reads back the first few tables; figures are made anew from the timeline.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "dlkprof/version.h"
#include "model/aggregate/provenance.h"
#include "model/diagnosis.h"
#include "model/profile.h"
#include "store/cells.h"

namespace dlkprof::store {

void columns(const auto& visit, Of<model::Profile> auto& row) {
  const model::SteadyRange& steady = row.aggregate.steady;
  const auto if_found = [&steady](std::uint32_t iteration) { return steady.found ? std::optional(iteration) : std::nullopt; };
  visit(Head{"aggregation",
             "One folding of the timeline, and the range of iterations that its figures are of. Views show the last."},
        own_aggregation("From 1."), number("made_unix_ns", unix_now_ns(), "ns since 1970"),
        text("dlkprof_version", std::string(DLKPROF_VERSION), "That made it."),
        text("key_node_asked", row.options.key_node, "With --key_node; empty: found."),
        text("domains", row.options.domains, "NVTX domains that counted, with commas between; empty: all."),
        number("iter_start_asked", row.range.start, "", "With --iter_start."),
        number("iter_stop_asked", row.range.stop, "", "With --iter_stop."),
        text("key_node", row.fold.key_node, "Name of the op whose end parts iterations."),
        word("key_node_source", row.fold.key_node_source, model::kKeyNodeSources,
             "How it was found: none, asked, framework or repetition."),
        number("key_nodes_found", row.fold.key_nodes_found, "", "Its instances; iterations are one more."),
        number("first_iteration", row.aggregate.first_iteration, "", "That figures are of."),
        number("last_iteration", row.aggregate.last_iteration, "", "That figures are of, inclusive."),
        text("range_source", model::name_in(model::kRangeSources, row.aggregate.range_source),
             "How these were chosen: all, as no iteration is whole; found, the steady range; or asked."),
        number("steady_first", if_found(steady.first), "", "Of the steady range; NULL: no iteration is whole."),
        number("steady_last", if_found(steady.last), "", "Of the steady range, inclusive."),
        text("iter_kind_asked", row.range.kind, "With --iter_kind; empty: all."),
        nullable(number("kind", row.aggregate.kind, "id of iteration_kind",
                        "Of the iterations of the range, figures are only of "
                        "this kind; NULL: of all.")));
}

void columns(const auto& visit, Of<model::Group> auto& row) {
  visit(Head{"op_group", "A group node: a node of the op tree that has others below it.", 2}, aggregation(), row_id("From 0."),
        text("name", row.name, "Path."), nullable(reference("parent", row.parent, "op_group")));
}

void columns(const auto& visit, Of<model::Op> auto& row) {
  visit(Head{"op", "A unique operation: all instances of one name, type, direction and framework.", 2}, aggregation(),
        row_id("From 0."), text("op_id", row.id, "Unique, and the same for the same program."),
        text("name", row.name, "Path of what encloses it: /net/layer1/conv1."), text("type", row.type, "aten::conv2d"),
        word("direction", row.direction, model::kDirections, "fprop, bprop or empty."),
        word("framework", row.framework, model::kFrameworks, "That named it."),
        text("data_types", row.data_types, "Of its first instance's inputs."),
        text("input_shapes", row.input_shapes, "Of its first instance."),
        text("module", row.module, "Of compiled code: path of the module that it was made from."),
        text("made_of", row.made_of, "Of compiled code: the ops that were made into it."),
        text("stack_trace", row.stack, "Of Python, where it was written, the innermost frame first; empty: not known."),
        nullable(reference("op_group", row.group, "op_group", "The group node it lies in.")),
        flag("eligible", row.eligible, "Can use tensor cores, by type and data types."),
        flag("leaf", row.leaf, "No range lies inside any of its instances."));
}

void columns(const auto& visit, Of<model::IterationKind> auto& row) {
  visit(Head{"iteration_kind", "Iterations that do the same work; no rows where all are of one kind.", 2}, aggregation(),
        row_id("From 0, by GPU time, falling."),
        text("name", row.name, "prefill, decode where shapes of inputs show it, else kind 1 and so on."));
}

void columns(const auto& visit, Of<model::Iteration> auto& row) {
  visit(Head{"iteration", "An iteration: from one end of the key node to before the next.", 2}, aggregation(), row_id("From 0."),
        time_in_order("start_ns", row.start_ns, "Of CLOCK_MONOTONIC."),
        any_time("stop_ns", row.stop_ns, "Of CLOCK_MONOTONIC, inclusive."),
        nullable(reference("kind", row.kind, "iteration_kind", "NULL: it is not whole, or all are of one kind.")));
}

struct Placement {
  std::uint32_t op = 0, iteration = 0, range = model::kNone;
};
void columns(const auto& visit, Of<Placement> auto& row) {
  visit(Head{"placement", "Where folding put what a GPU did.", 2}, aggregation(),
        PlaceCell{"activity", "id of activity", "", &Place::row}, reference("op", row.op, "op", "That launched it."),
        reference("iteration", row.iteration, "iteration", "In which it was called."),
        nullable(reference("range", row.range, "range", "The instance of the op; NULL: outside of every range.")));
}

inline auto stats(const char* prefix, const model::Stats& all, const char* meaning) {
  return group(prefix, number("_n", all.n, "", "How many instances the next three are of."),
               number("_total_ns", all.total, "ns", meaning), number("_min_ns", all.least, "ns"),
               number("_max_ns", all.most, "ns"));
}
inline auto cpu_stats(const model::Stats& all) { return stats("cpu", all, "Length on the CPU."); }
inline auto overhead_stats(const model::Stats& all) { return stats("overhead", all, "On the CPU outside of CUDA calls."); }
inline constexpr const char* kGpu = "Sum over its own kernels, copies and sets.";
inline constexpr const char* kIdle = "Between its kernels, when none of them ran.";

// What is known of the rows of table counter that belong to this row.
inline auto counted(const model::Counters& counters) {
  return group("", number("samples", counters.samples, "launches", "Measured behind its counters."),
               number("covered_ns", counters.covered_ns, "ns", "Its GPU time in launch configurations that were measured."),
               text("collected_by", model::replay_modes_text(counters.replay_modes),
                    "How they were measured: kernel replay, iteration replay, or both; empty: not known."),
               text("cache_control", model::cache_controls_text(counters.cache_controls),
                    "none: caches as they were left, all: flushed before each pass, or both; empty: not known."));
}

inline auto tensor_cores(const bool& uses, const model::TensorCoreSource& source) {
  return group("", flag("uses_tc", uses, "Uses tensor cores."),
               word("tc_source", source, model::kTensorCoreSources, "How that is known: unknown, name or counter."));
}

void columns(const auto& visit, const model::OpRow& row) {
  visit(Head{"op_stats", "Figures of an op, accumulated over its instances.", 2}, aggregation(),
        rank("From 0, by GPU time, then CPU time, falling."), reference("op", row.op, "op"), cpu_stats(row.cpu),
        stats("gpu", row.gpu, kGpu), overhead_stats(row.overhead), stats("idle", row.idle, kIdle),
        stats("mapped", row.mapped, "From its first kernel's start to its last one's end."),
        tensor_cores(row.uses_tc, row.tc_source), number("tc_gpu_ns", row.tc_gpu_ns, "ns", "In kernels that use tensor cores."),
        counted(row.counters));
}

struct OpKernel {
  std::uint32_t op = 0, kernel = 0;
  bool uses_tc = false;
};
void columns(const auto& visit, const OpKernel& row) {
  visit(Head{"op_kernel", "That an op ran a kernel.", 4}, aggregation(), reference("op", row.op, "op"),
        reference("kernel", row.kernel, "kernel"),
        flag("uses_tc", row.uses_tc, "1: using tensor cores; the kernel may be here both ways."));
}

void columns(const auto& visit, const model::KernelRow& row) {
  visit(Head{"kernel_stats", "Figures of a kernel, copy or set within one op.", 2}, aggregation(),
        rank("From 0, by GPU time, falling."), reference("kernel", row.kernel, "kernel"), reference("op", row.op, "op"),
        stats("gpu", row.gpu, "On the GPU."), stats("api", row.api, "On the CPU, in the CUDA calls that caused them."),
        tensor_cores(row.uses_tc, row.tc_source), counted(row.counters));
}

void columns(const auto& visit, const model::OpTypeRow& row) {
  visit(Head{"op_type_stats", "Figures of all ops of one type.", 2}, aggregation(), rank("From 0, by GPU time, falling."),
        text("type", row.type), number("nodes", row.nodes, "", "Its ops."),
        flag("eligible", row.eligible, "Can use tensor cores."), flag("uses_tc", row.uses_tc, "Uses tensor cores."),
        cpu_stats(row.cpu), stats("gpu", row.gpu, kGpu), overhead_stats(row.overhead), stats("idle", row.idle, kIdle),
        counted(row.counters));
}

void columns(const auto& visit, const model::GroupRow& row) {
  visit(Head{"group_stats", "Figures of a group node: one value per iteration, overlapping time counted once.", 2}, aggregation(),
        rank("From 0, by name."), reference("op_group", row.group, "op_group"),
        number("leaf_instances", row.leaf_instances, "", "Instances of ops below it."),
        number("eligible_leaves", row.eligible_leaves, "", "Ops that can use tensor cores."),
        number("tc_leaves", row.tc_leaves, "", "Ops that use tensor cores."), cpu_stats(row.cpu),
        stats("gpu", row.gpu, "In kernels of ops below it."), overhead_stats(row.overhead),
        stats("idle", row.idle, "When none of its kernels ran."));
}

void columns(const auto& visit, const model::KindRow& row) {
  visit(Head{"kind_stats", "Figures of the iterations of a kind, of those in the range aggregated.", 2}, aggregation(),
        rank("From 0, by GPU time, falling."), reference("kind", row.kind, "iteration_kind"),
        number("iterations", row.iterations), number("wall_ns", row.wall_ns, "ns", "Their lengths together."),
        number("gpu_ns", row.gpu_ns, "ns", "Of all that was called in them."), real("median_ns", row.median_ns, "ns"),
        real("mean_ns", row.mean_ns, "ns"), real("deviation_ns", row.deviation_ns, "ns", "Standard deviation of the sample."),
        text("verdict", row.verdict, "What holds them back, in a sentence; empty: not judged."));
}

inline auto ops_line(const char* prefix, const model::OpsLine& line, const char* meaning) {
  return group(prefix, number("_gpu_ns", line.gpu_ns, "ns", meaning), number("_cpu_ns", line.cpu_ns, "ns"),
               number("_count", line.count));
}
inline auto left_out(const char* prefix, const model::LeftOut& left, const char* meaning) {
  return group(prefix, number("_iterations", left.iterations, "", meaning), number("_wall_ns", left.wall_ns, "ns"),
               number("_gpu_ns", left.gpu_ns, "ns"));
}

// NULL where the program was never left to itself for long enough.
inline auto undisturbed(const std::optional<model::UndisturbedIterations>& found) {
  const auto figure = [&found](double model::UndisturbedIterations::*member) {
    return found ? std::optional((*found).*member) : std::nullopt;
  };
  using Figures = model::UndisturbedIterations;
  return group("undisturbed",
               number("_iterations", found ? std::optional(found->n) : std::nullopt, "",
                      "Of the program by itself, after the profiler had let go of it."),
               real("_median_ns", figure(&Figures::median_ns), "ns"), real("_mean_ns", figure(&Figures::mean_ns), "ns"),
               real("_deviation_ns", figure(&Figures::deviation_ns), "ns", "Standard deviation of the sample."));
}

void columns(const auto& visit, const model::Summary& row) {
  const model::Duration& share = row.share;
  const auto of_one_kind = [&row](double ns) { return row.mixed_kinds ? std::nullopt : std::optional(ns); };
  visit(Head{"summary_stats", "Figures of the whole. Shares leave out what those before them hold, and are means over GPUs."},
        aggregation(), number("wall_ns", row.wall_ns, "ns"),
        real("tc_utilization_pct", row.tc_utilization, "%", "Of the kernel time of eligible ops; NULL: there are none."),
        real("gpu_pct", share.gpu, "%", "A GPU is active."),
        real("tc_pct", share.tc, "%", "Kernels that use tensor cores are active."),
        real("non_tc_pct", share.non_tc, "%", "Other kernels are active."),
        real("memory_pct", share.memory, "%", "Copies and sets are active."),
        real("dataloader_pct", share.dataloader, "%", "The data loader is active."),
        real("io_pct", share.io, "%", "The CPU reads or writes files."), real("cpu_pct", share.cpu, "%", "The CPU is active."),
        real("other_pct", share.other, "%", "None of these."), number("total_iterations", row.total_iterations),
        number("aggregated_iterations", row.aggregated_iterations), number("start_iteration", row.start_iteration),
        number("stop_iteration", row.stop_iteration),
        real("mean_iteration_ns", row.mean_iteration_ns, "ns", "Of all kinds of iterations together."),
        real("iteration_deviation_ns", of_one_kind(row.iteration_deviation_ns), "ns",
             "Standard deviation of the sample; NULL: iterations are of several kinds, see view iteration_kinds."),
        ops_line("all_ops", row.all_ops, "All ops."), ops_line("tc_ops", row.tc_ops, "Ops that use tensor cores."),
        ops_line("eligible_without_tc", row.eligible_without_tc, "Ops that can use tensor cores and do not."),
        ops_line("other_ops", row.other_ops, "All other ops."),
        ops_line("all_kernels", row.all_kernels, "All kernels, copies and sets."),
        ops_line("tc_kernels", row.tc_kernels, "Kernels that use tensor cores."),
        ops_line("memory", row.memory, "Copies and sets."), ops_line("other_kernels", row.other_kernels, "All other kernels."),
        number("graph_gpu_ns", row.graph_gpu_ns, "ns", "In kernels of CUDA graphs."),
        real("median_iteration_ns", of_one_kind(row.median_iteration_ns), "ns", "NULL: as iteration_deviation_ns."),
        undisturbed(row.undisturbed), left_out("before", row.before, "Warm-up: iterations before those aggregated."),
        left_out("after", row.after, "Iterations after those aggregated."));
}

enum class CounterKind : std::uint8_t { op = 0, kernel = 1, op_type = 2 };
struct CounterRow {
  CounterKind kind = CounterKind::op;
  std::size_t rank = 0;
  std::string metric;
  std::optional<double> value, measured;
  std::optional<std::uint64_t> measured_on, scaled_to;
  bool unreliable = false;
};
void columns(const auto& visit, const CounterRow& row) {
  visit(Head{"counter",
             "Hardware counters of a row of figures: ratios are means weighted by GPU time, counts are scaled from the launches "
             "measured to all of the row's launches of their configurations (docs/user/diagnosis.md).",
             4},
        aggregation(), number("kind", row.kind, "", "Of row: 0 op_stats, 1 kernel_stats, 2 op_type_stats."),
        number("rank", row.rank, "", "Of that row."), text("metric", row.metric, "As NVPerf has it."),
        real("value", row.value, "of the metric", "NULL: nothing is left of what was measured, as it cannot be."),
        real("measured", row.measured, "of the metric",
             "Of counts: the sum over the launches measured; NULL of all else, and of samples."),
        number("measured_on", row.measured_on, "launches", "That this is the sum of."),
        number("scaled_to", row.scaled_to, "launches", "Of counts: those that value stands for."),
        flag("unreliable", row.unreliable, "1: values above 100 % were left out."));
}

void columns(const auto& visit, const model::DiagnosedFinding& row) {
  visit(Head{"finding", "What a rule found.", 2}, aggregation(), rank("From 0, by estimated gain, falling."),
        text("rule", row.rule, "As docs/reference/rules.md names it."),
        text("detector", row.detector, "As DLProf names it, where it does."), text("headline", row.headline),
        text("problem", row.problem, "With its figures."), text("recommendation", row.recommendation, "The change to make."),
        text("place", row.where, "Op or kernel; empty: the run."),
        text("basis", row.basis, "How the figures were got, and of how many launches or iterations."),
        number("bound_ns", row.bound_ns, "ns", "That mending it saves at most, of the iterations aggregated."),
        nullable(reference("op", row.op, "op", "NULL: the run.")));
}

// The row of figures that a verdict or a stall is of.
inline auto of_figures(const model::DiagnosedRow& row) {
  return group("", aggregation(), number("kind", row.kind, "", "Of row: 0 op_stats, 1 kernel_stats."),
               number("rank", row.rank, "", "Of that row."));
}

void columns(const auto& visit, const model::DiagnosedVerdict& row) {
  visit(Head{"verdict", "What holds an op or a kernel back.", 3}, of_figures(row.row),
        text("verdict", row.verdict, "launch-bound, too small, compute-bound, memory-bound or latency-bound."),
        text("reason", row.reason, "The figures that say so."),
        number("bound_ns", row.bound_ns, "ns", "That mending it saves at most, of the iterations aggregated."),
        real("sm_pct", row.sm_percent, "%", "Of peak."), real("memory_pct", row.memory_percent, "%", "Of peak."),
        real("filled_pct", row.filled_percent, "%", "Multiprocessors that its grids have blocks for."),
        real("waited_pct", row.waited_percent, "%", "Launches that the GPU waited for."));
}

struct StallRow {
  model::DiagnosedStall stall;
  std::size_t position = 0;
};
void columns(const auto& visit, const StallRow& row) {
  visit(Head{"stall", "What warps of an op or a kernel wait for.", 4}, of_figures(row.stall.row),
        number("position", row.position, "", "From 0, by cycles, falling."), text("reason", row.stall.reason, "long_scoreboard."),
        real("cycles", row.stall.cycles, "cycles", "An instruction issued."),
        real("pct", row.stall.percent, "%", "Of all warp cycles."),
        flag("waits", row.stall.waits, "0: the warp issues, and waits for nothing."));
}

void columns(const auto& visit, const model::DiagnosedOccupancy& row) {
  const auto theoretical = [&row](auto figure) {
    return row.theoretical ? std::optional(std::invoke(figure, *row.theoretical)) : std::nullopt;
  };
  using model::Occupancy;
  visit(Head{"config_occupancy", "Occupancy of a launch configuration in the iterations aggregated. NULL: not known.", 2},
        aggregation(), reference("config", row.config, "config"), number("launches", row.launches, "launches"),
        number("gpu_ns", row.gpu_ns, "ns", "Of those that were timed."), number("samples", row.samples, "launches", "Measured."),
        real("theoretical_pct", theoretical(&Occupancy::percent), "%", "Of the warps that a multiprocessor can hold."),
        real("achieved_pct", row.achieved_percent, "%", "The same, as measured."),
        text("limiter", theoretical(&Occupancy::limiter), "What limits theoretical occupancy; several with commas between."),
        number("blocks_per_sm", theoretical(&Occupancy::blocks_per_sm), "blocks", "That a multiprocessor holds at once."),
        number("registers_per_thread", theoretical(&Occupancy::registers_per_thread), "registers", "As allocated."),
        number("shared_bytes_per_block", theoretical(&Occupancy::shared_per_block), "bytes", "Static, dynamic and the driver's."),
        real("waves", theoretical(&Occupancy::waves), "", "The grid, over what the GPU holds at once."),
        real("idle_sms_pct", row.idle_sms_percent, "%", "Multiprocessors that get no block."),
        real("tail_pct", row.tail_percent, "%", "Of the time of all waves, lost in the last."),
        text("gap", row.gap, "Why achieved occupancy is below theoretical; empty: not known."),
        text("step", row.step, "The least change that gives more; empty: none is known."));
}

}  // namespace dlkprof::store
