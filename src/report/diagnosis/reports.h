// The reports that say what holds ops and kernels back. The profile outlives the rows.
#pragma once

#include <cstddef>
#include <string>

#include "advise/rules.h"
#include "model/profile.h"
#include "report/format/choice.h"
#include "report/format/layout.h"
#include "report/format/rows.h"

namespace dlkprof::report {

// What the rules of the expert system found (guide, 10.9), by time at stake, falling.
[[nodiscard]] Rows expert_systems_report(const model::Profile& profile);

// What holds each op and kernel back.
[[nodiscard]] Rows bottleneck_report(const model::Profile& profile);

// A row per launch configuration.
[[nodiscard]] Rows occupancy_report(const model::Profile& profile);
// A row per point: theoretical occupancy while block size, registers or shared memory change and all else stays.
[[nodiscard]] Rows occupancy_curves_report(const model::Profile& profile);

// What warps of each measured op and kernel waited for, a row per reason. By GPU time, and for each op and kernel by the share of
// the reason. Explained are the three largest. An op or kernel that was measured, but not for this, has a row with empty cells.
[[nodiscard]] Rows stall_report(const model::Profile& profile);

// What the kernels wait for that PC sampling found most, for the end of a profile: a table of at most `most` rows, which ends
// with a newline; empty where nothing was sampled.
[[nodiscard]] std::string top_stalls(const model::Profile& profile, std::size_t most = 5);

// What each measured op and kernel moved through DRAM, L2, L1 and shared memory.
[[nodiscard]] Rows memory_report(const model::Profile& profile);

// Arithmetic intensity and performance of each measured op and kernel by precision, beside what compute and memory allow. A row
// per precision; an op or kernel without a count of operations has one row with empty cells.
[[nodiscard]] Rows roofline_report(const model::Profile& profile);

// The kernels of the same as a picture: a self-contained SVG, both axes logarithmic. A point per kernel, at its dominant
// precision, as large as its GPU time; it names its kernel and figures, also of other precisions, when pointed at. Where there is
// nothing to show it says what to collect.
[[nodiscard]] std::string roofline_svg(const model::Profile& profile);

// What the rules of the expert system found, for people: a list in full sentences, by estimated gain, falling. For each finding
// its title, the op, what was found, and the change to make. The first 20, unless the choice says how many; its `accepts` is
// asked for ops and kernels. Throws UsageError where it names columns.
[[nodiscard]] std::string findings_text(const model::Profile& profile, const Choice& choice, const Page& page);

// Where a finding was made, in at most `width` columns: "gemm of .../fc/aten::mm bprop"; empty for the run.
[[nodiscard]] std::string place_text(const advise::Finding& finding, const model::Fold& fold, std::size_t width);

// The findings for machines, as findings.schema.json describes: each claim with its evidence, the query that gives
// each figure from a database of the run, and how to verify it; then what no rule could say, as nothing was measured, and what to
// collect.
[[nodiscard]] std::string findings_json(const model::Profile& profile);
// The same as rows: one per figure.
[[nodiscard]] Rows findings_report(const model::Profile& profile);

// Of the GPU time of kernels in the iterations aggregated, in %: in CUDA graphs.
[[nodiscard]] double percent_in_graphs(const model::Profile& profile);
inline constexpr double kMostlyInGraphs = 50;  // %: sections may measure less than half

// What would have to be collected for the cells that a report leaves empty: "stall: nothing was measured for it; collect it with
// --section stall"; empty where the report has what it shows, or shows nothing of counters.
[[nodiscard]] std::string missing_sections(const std::string& report, const model::Profile& profile);

}  // namespace dlkprof::report
