#include "report/ops/summary_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/launches/coverage.h"
#include "report/ops/fields.h"

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
           {"Other Duration %", "%", percent(share.other)},
           {"GPU Time in CUDA Graphs (ns)", "ns", {known ? Cell{summary.graph_gpu_ns} : Cell{}}}}};
}

// "0-1"; empty where there are none.
Cell numbers_of(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return {};
  return count == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + count - 1);
}

// What warm-up and the end of the program took, where both were told from the loop.
void append_left_out(const model::Aggregate& made, std::vector<SummaryRow>& rows) {
  const bool found = made.range_source == model::RangeSource::found;
  const auto append = [&](const std::string& name, const model::LeftOut& left, std::uint64_t first) {
    const auto time = [&](std::int64_t ns) { return found && left.iterations > 0 ? Cell{ns} : Cell{}; };
    rows.push_back({name + " Iterations", "", {found ? numbers_of(first, left.iterations) : Cell{}}});
    rows.push_back({name + " Time (ns)", "ns", {time(left.wall_ns)}});
    rows.push_back({name + " GPU Time (ns)", "ns", {time(left.gpu_ns)}});
  };
  append("Warm-Up", made.summary.before, 0);
  append("After Loop", made.summary.after, std::uint64_t{made.last_iteration} + 1);
}

// Of the program by itself, after the profiler had let go of it.
void append_undisturbed(const std::optional<model::UndisturbedIterations>& found, std::vector<SummaryRow>& rows) {
  const auto time = [&](double model::UndisturbedIterations::*figure) { return found ? Cell{(*found).*figure} : Cell{}; };
  using Undisturbed = model::UndisturbedIterations;
  rows.push_back({"Undisturbed Iterations", "", {found ? Cell{found->n} : Cell{}}});
  rows.push_back({"Undisturbed Median Iteration Time (ns)", "ns", {time(&Undisturbed::median_ns)}});
  rows.push_back({"Undisturbed Average Iteration Time (ns)", "ns", {time(&Undisturbed::mean_ns)}});
  rows.push_back({"Undisturbed Iteration Time Standard Deviation (ns)", "ns", {time(&Undisturbed::deviation_ns)}});
}

SummaryTable iterations(const model::Profile& profile) {
  const model::Aggregate& made = profile.aggregate;
  const Summary& summary = made.summary;
  const bool known = !is_empty(profile.timeline);
  const bool of_one = known && !summary.mixed_kinds;  // else the table of kinds has them
  const bool spread = of_one && summary.aggregated_iterations > 1;
  const bool found = made.range_source == model::RangeSource::found;
  SummaryTable table{"Iterations",
                     {},
                     {{"Total Iterations", "", {summary.total_iterations}},
                      {"Aggregated Iterations", "", {summary.aggregated_iterations}},
                      {"Start Iteration", "", {summary.start_iteration}},
                      {"Stop Iteration", "", {summary.stop_iteration}},
                      {"Average Iteration Time (ns)", "ns", {of_one ? Cell{summary.mean_iteration_ns} : Cell{}}},
                      {"Iteration Time Standard Deviation (ns)", "ns", {spread ? Cell{summary.iteration_deviation_ns} : Cell{}}},
                      {"Key Node", "", {text_cell(profile.fold.key_node)}},
                      {"Median Iteration Time (ns)", "ns", {of_one ? Cell{summary.median_iteration_ns} : Cell{}}},
                      {"Iteration Range", "", {text_cell(model::name_in(model::kRangeSources, made.range_source))}},
                      {"Steady Range Rule", "", {found ? Cell{model::kSteadyRangeRule} : Cell{}}},
                      {"Steady Range Note", "", {text_cell(std::string(made.steady.note))}}}};
  append_left_out(made, table.rows);
  append_undisturbed(summary.undisturbed, table.rows);
  return table;
}

SummaryTable kinds_table(const model::Profile& profile) {
  SummaryTable table{"Iteration Kinds",
                     {{"Iterations", ""},
                      {"Median Iteration Time (ns)", "ns"},
                      {"Average Iteration Time (ns)", "ns"},
                      {"Iteration Time Standard Deviation (ns)", "ns"},
                      {"GPU Time (ns)", "ns"}},
                     {}};
  for (const model::KindRow& row : profile.aggregate.kinds) {
    table.rows.push_back(
        {profile.fold.kinds[row.kind].name,
         "",
         {row.iterations, row.median_ns, row.mean_ns, row.iterations > 1 ? Cell{row.deviation_ns} : Cell{}, row.gpu_ns}});
  }
  return table;
}

SummaryRow row_of(const char* name, const model::OpsLine& line, bool known) {
  if (!known) return {name, "", {Cell{}, Cell{}, Cell{}}};
  return {name, "", {line.gpu_ns, line.cpu_ns ? Cell{*line.cpu_ns} : Cell{}, line.count}};
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
  if (!profile.aggregate.kinds.empty()) tables.insert(tables.begin() + 3, kinds_table(profile));
  if (!inputs.coverage) return tables;
  const auto figures = coverage_figures(profile.timeline);
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
