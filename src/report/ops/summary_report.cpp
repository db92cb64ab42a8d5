#include "report/ops/summary_report.h"

#include <algorithm>

#include "report/launches/coverage.h"
#include "report/ops/fields.h"
#include "report/ops/system_config.h"

namespace dlkprof::report {
namespace {

using model::Summary;

// Where nothing happened on the timeline, no time was measured.
bool is_empty(const model::Timeline& timeline) {
  return timeline.activities.empty() && timeline.calls.empty() && timeline.ranges.empty();
}

SummaryTable high_level(const model::Profile& profile) {
  const Summary& summary = profile.aggregate.summary;
  const model::Duration& share = summary.share;
  const bool known = !is_empty(profile.timeline);
  const auto percent = [known](double value) { return std::vector<Cell>{known ? Cell{value} : Cell{}}; };
  // What no marker tells of was not measured: reading files never, waiting for data by PyTorch's.
  const auto if_seen = [&](bool seen, double value) { return seen || value > 0 ? percent(value) : std::vector<Cell>{Cell{}}; };
  const bool tc_known = known && summary.tc_utilization.has_value();
  return {"Summary Report",
          {},
          {{"Wall Clock Time (ns)", "ns", {known ? Cell{summary.wall_ns} : Cell{}}},
           {"Tensor Core Kernel Utilization %", "%", {tc_known ? Cell{summary.tc_utilization.value_or(0)} : Cell{}}},
           {"GPU Utilization %", "%", percent(share.gpu)},
           {"Tensor Core Kernel Duration %", "%", percent(share.tc)},
           {"Non-Tensor Core Kernel Duration %", "%", percent(share.non_tc)},
           {"Memory Duration %", "%", percent(share.memory)},
           {"Dataloader Duration %", "%", if_seen(is_pytorch(profile.fold), share.dataloader)},
           {"I/O Duration %", "%", if_seen(false, share.io)},
           {"CPU Duration %", "%", percent(share.cpu)},
           {"Other Duration %", "%", percent(share.other)}}};
}

SummaryTable iterations(const model::Profile& profile) {
  const Summary& summary = profile.aggregate.summary;
  const bool known = !is_empty(profile.timeline);
  const bool spread = known && summary.aggregated_iterations > 1;
  return {"Iterations",
          {},
          {{"Total Iterations", "", {summary.total_iterations}},
           {"Aggregated Iterations", "", {summary.aggregated_iterations}},
           {"Start Iteration", "", {summary.start_iteration}},
           {"Stop Iteration", "", {summary.stop_iteration}},
           {"Average Iteration Time (ns)", "ns", {known ? Cell{summary.mean_iteration_ns} : Cell{}}},
           {"Iteration Time Standard Deviation (ns)", "ns", {spread ? Cell{summary.iteration_deviation_ns} : Cell{}}},
           {"Key Node", "", {text_cell(profile.fold.key_node)}}}};
}

SummaryRow row_of(const char* name, const model::OpsLine& line, bool known) {
  if (!known) return {name, "", {Cell{}, Cell{}, Cell{}}};
  return {name, "", {line.gpu_ns, line.cpu_ns, line.count}};
}

SummaryTable all_ops(const Summary& summary, bool known) {
  return {"All Ops",
          {{"GPU Time (ns)", "ns"}, {"CPU Time (ns)", "ns"}, {"# Ops", ""}},
          {row_of("All Op", summary.all_ops, known), row_of("Ops Using TC", summary.tc_ops, known),
           row_of("Op eligible for TC but not using", summary.eligible_without_tc, known),
           row_of("All other ops", summary.other_ops, known)}};
}

SummaryTable all_kernels(const Summary& summary, bool known) {
  return {"All Kernels",
          {{"GPU Time (ns)", "ns"}, {"CPU Time (ns)", "ns"}, {"# Kernels", ""}},
          {row_of("All Kernels", summary.all_kernels, known), row_of("Kernels Using TC", summary.tc_kernels, known),
           row_of("Memory", summary.memory, known), row_of("All other kernels", summary.other_kernels, known)}};
}

SummaryTable coverage_table(const std::vector<CoverageFigure>& figures) {
  SummaryTable table{"Coverage", {}, {}};
  for (const CoverageFigure& figure : figures) table.rows.push_back({figure.name, figure.unit, {figure.value}});
  return table;
}

}  // namespace

std::vector<SummaryTable> summary_tables(const model::Profile& profile, const SummaryInputs& inputs) {
  const bool known = !is_empty(profile.timeline);
  SummaryTable config{"System config", {}, {}};
  for (auto& [name, value] : system_config(profile.timeline, inputs.profile_name)) config.rows.push_back({name, "", {value}});
  std::vector<SummaryTable> tables{std::move(config), high_level(profile), iterations(profile),
                                   all_ops(profile.aggregate.summary, known), all_kernels(profile.aggregate.summary, known)};
  if (!inputs.coverage) return tables;
  const auto figures = inputs.runs.empty() ? coverage_figures(profile.timeline) : coverage_figures(inputs.runs);
  if (!figures.empty()) tables.push_back(coverage_table(figures));
  return tables;
}

std::vector<SummaryTable> simple_summary_tables(const model::Profile& profile) {
  const Summary& summary = profile.aggregate.summary;
  const bool known = !is_empty(profile.timeline);
  const auto time = [known](std::int64_t value) { return std::vector<Cell>{known ? Cell{value} : Cell{}}; };
  return {{"Summary Report",
           {},
           {{"Wall Clock Time (ns)", "ns", time(summary.wall_ns)},
            {"GPU Time (ns)", "ns", time(summary.all_kernels.gpu_ns)},
            {"Tensor Core Kernel Time (ns)", "ns", time(summary.tc_kernels.gpu_ns)}}}};
}

}  // namespace dlkprof::report
