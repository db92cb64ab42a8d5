#include "store/diagnosis.h"

#include "store/columns.h"
#include "store/rows.h"

namespace dlkprof::store {
namespace {

Column of_one_aggregation() { return reference("aggregation", "aggregation", ""); }
std::vector<Column> of_figures() {
  return {of_one_aggregation(), number("kind", "", "Of row: 0 op_stats, 1 kernel_stats."), number("rank", "", "Of that row.")};
}

}  // namespace

std::vector<Table> diagnosis_tables() {
  return {{"finding",
           "What a rule found.",
           {of_one_aggregation(), number("rank", "", "From 0, by estimated gain, falling."),
            text("rule", "As docs/rules.md names it."), text("detector", "As DLProf names it, where it does."),
            text("headline", ""), text("problem", "With its figures."), text("recommendation", "The change to make."),
            text("place", "Op or kernel; empty: the run."),
            text("basis", "How the figures were got, and of how many launches or iterations."),
            nullable(number("bound_ns", "ns", "That mending it saves at most, of the iterations aggregated.")),
            nullable(reference("op", "op", "NULL: the run."))},
           2},
          {"verdict", "What holds an op or a kernel back.",
           concatenate({of_figures(),
                        {text("verdict", "launch-bound, too small, compute-bound, memory-bound or latency-bound."),
                         text("reason", "The figures that say so."),
                         nullable(number("bound_ns", "ns", "That mending it saves at most, of the iterations aggregated.")),
                         nullable(real("sm_pct", "%", "Of peak.")), nullable(real("memory_pct", "%", "Of peak.")),
                         nullable(real("filled_pct", "%", "Multiprocessors that its grids have blocks for.")),
                         nullable(real("waited_pct", "%", "Launches that the GPU waited for."))}}),
           3},
          {"stall", "What warps of an op or a kernel wait for.",
           concatenate({of_figures(),
                        {number("position", "", "From 0, by cycles, falling."), text("reason", "long_scoreboard."),
                         real("cycles", "cycles", "An instruction issued."), real("pct", "%", "Of all warp cycles."),
                         flag("waits", "0: the warp issues, and waits for nothing.")}}),
           4},
          {"config_occupancy",
           "Occupancy of a launch configuration in the iterations aggregated. NULL: not known.",
           {of_one_aggregation(), reference("config", "config", ""), number("launches", "launches", ""),
            nullable(number("gpu_ns", "ns", "Of those that were timed.")), number("samples", "launches", "Measured."),
            nullable(real("theoretical_pct", "%", "Of the warps that a multiprocessor can hold.")),
            nullable(real("achieved_pct", "%", "The same, as measured.")),
            nullable(text("limiter", "What limits theoretical occupancy; several with commas between.")),
            nullable(number("blocks_per_sm", "blocks", "That a multiprocessor holds at once.")),
            nullable(number("registers_per_thread", "registers", "As allocated.")),
            nullable(number("shared_bytes_per_block", "bytes", "Static, dynamic and the driver's.")),
            nullable(real("waves", "", "The grid, over what the GPU holds at once.")),
            nullable(real("idle_sms_pct", "%", "Multiprocessors that get no block.")),
            nullable(real("tail_pct", "%", "Of the time of all waves, lost in the last.")),
            text("gap", "Why achieved occupancy is below theoretical; empty: not known."),
            text("step", "The least change that gives more; empty: none is known.")},
           2}};
}

void insert_diagnosis(const Connection& connection, int aggregation, const model::Diagnosis& diagnosis) {
  std::size_t rank = 0;
  Statement findings = insert_into(connection, "finding");
  for (const model::DiagnosedFinding& one : diagnosis.findings) {
    findings.run(aggregation, rank++, one.rule, one.detector, one.headline, one.problem, one.recommendation, one.where, one.basis,
                 one.bound_ns, or_null(one.op));
  }
  Statement verdicts = insert_into(connection, "verdict");
  for (const model::DiagnosedVerdict& one : diagnosis.verdicts) {
    verdicts.run(aggregation, one.row.kind, one.row.rank, one.verdict, one.reason, one.bound_ns, one.sm_percent,
                 one.memory_percent, one.filled_percent, one.waited_percent);
  }
  Statement stalls = insert_into(connection, "stall");
  std::size_t position = 0;
  const model::DiagnosedStall* before = nullptr;
  for (const model::DiagnosedStall& one : diagnosis.stalls) {
    const bool same = before != nullptr && before->row.kind == one.row.kind && before->row.rank == one.row.rank;
    position = same ? position + 1 : 0;
    stalls.run(aggregation, one.row.kind, one.row.rank, position, one.reason, one.cycles, one.percent, one.waits);
    before = &one;
  }
  Statement occupancy = insert_into(connection, "config_occupancy");
  for (const model::DiagnosedOccupancy& one : diagnosis.occupancy) {
    const auto theoretical = [&one](auto figure) {
      return one.theoretical ? std::optional(figure(*one.theoretical)) : std::nullopt;
    };
    occupancy.run(aggregation, one.config, one.launches, one.gpu_ns, one.samples,
                  theoretical([](const model::Occupancy& of) { return of.percent; }), one.achieved_percent,
                  theoretical([](const model::Occupancy& of) { return of.limiter; }),
                  theoretical([](const model::Occupancy& of) { return of.blocks_per_sm; }),
                  theoretical([](const model::Occupancy& of) { return of.registers_per_thread; }),
                  theoretical([](const model::Occupancy& of) { return of.shared_per_block; }),
                  theoretical([](const model::Occupancy& of) { return of.waves; }), one.idle_sms_percent, one.tail_percent,
                  one.gap, one.step);
  }
}

}  // namespace dlkprof::store
