// DLProf's reports of ops (user guide, chapter 10), and `coverage`: its columns first and in its order, then ours. The profile
// outlives the rows.
#pragma once

#include "model/aggregate/op_groups.h"
#include "model/profile.h"
#include "report/format/rows.h"

namespace dlkprof::report {

// A row per op (guide, 10.3), then mapped GPU time and counters. Direction and Stack Trace are there for PyTorch only; the
// stack is known of compiled code.
[[nodiscard]] Rows detail_report(const model::Profile& profile);

// A row per kernel call, copy or set, in the order in which GPUs did them (guide, 10.4), then what was measured of its launch
// configuration. Times are those of the timeline: CLOCK_MONOTONIC, as in the database and the capture. Parameters and Output
// Shapes are empty: no framework's markers say them.
[[nodiscard]] Rows iteration_report(const model::Profile& profile);

// A row per kind of iterations, by GPU time, falling; of one kind a row "all".
[[nodiscard]] Rows iterations_report(const model::Profile& profile);

// A row per kernel of an op (guide, 10.5), then its counters. The report `kernels` is another one: it shows launches that were
// measured, section by section.
[[nodiscard]] Rows kernel_report(const model::Profile& profile);

// A row per op that can use, or uses, tensor cores (guide, 10.6), then its counters.
[[nodiscard]] Rows tensor_report(const model::Profile& profile);

// A row per type of op (guide, 10.7), then its counters.
[[nodiscard]] Rows op_type_report(const model::Profile& profile);

// A row per node of the op tree that has others below it (guide, 10.8). Its times are those of whole sub-trees, in which no
// kernel is counted twice; counters of single launches have no such union, so there are none.
[[nodiscard]] Rows group_node_report(const model::Profile& profile);

// A row per launch configuration, by GPU time: how many of its launches were seen, matched, measured and skipped, their GPU time,
// and why it was not measured as often as asked. Configurations of functions that no filter takes are one row.
[[nodiscard]] Rows coverage_report(const model::Profile& profile);

// A row per group of ops, by GPU time, falling: what --by makes of a table of ops.
[[nodiscard]] Rows grouped_report(const model::Profile& profile, model::By by);

// The fold itself as JSON, for --dump_model_data: key node, iterations, ops, groups, instances, as model/fold/fold.h has them,
// and which instance each kernel call belongs to. Indices count from 0 within their array; null stands for none. Times in ns.
void write_model(const model::Profile& profile, const Sink& sink);

}  // namespace dlkprof::report
