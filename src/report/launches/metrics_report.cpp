#include "report/launches/metrics_report.h"

#include <array>
#include <unordered_set>
#include <utility>

#include "model/aggregate/computed.h"
#include "model/aggregate/provenance.h"
#include "model/aggregate/reliable.h"
#include "report/diagnosis/diagnosis_rows.h"
#include "report/launches/launch_text.h"
#include "report/launches/section_rows.h"

namespace dlkprof::report {
namespace {

// A column that identifies a launch: its heading, unit and where the cell comes from.
struct LaunchColumn {
  const char* name;
  const char* unit;
  Cell (*cell)(const model::Run&, const capture::LaunchRecord&);
};

using Run = model::Run;
using Record = capture::LaunchRecord;
constexpr std::array kLaunchColumns{
    LaunchColumn{"ID", "", [](const Run&, const Record& launch) -> Cell { return launch.index; }},
    LaunchColumn{"Process", "", [](const Run& run, const Record&) -> Cell { return std::uint64_t{run.process.pid}; }},
    LaunchColumn{"Device", "", [](const Run&, const Record& launch) -> Cell { return std::uint64_t{launch.key.device}; }},
    LaunchColumn{"Context", "", [](const Run&, const Record& launch) -> Cell { return std::uint64_t{launch.context_id}; }},
    LaunchColumn{"Stream", "", [](const Run&, const Record& launch) -> Cell { return std::uint64_t{launch.stream_id}; }},
    LaunchColumn{"Kernel Name", "", [](const Run& run, const Record& launch) -> Cell { return demangled_name(run, launch.key); }},
    LaunchColumn{"Mangled Name", "", [](const Run& run, const Record& launch) -> Cell { return mangled_name(run, launch.key); }},
    LaunchColumn{"Grid Size", "", [](const Run&, const Record& launch) -> Cell { return dim_text(launch.key.grid); }},
    LaunchColumn{"Block Size", "", [](const Run&, const Record& launch) -> Cell { return dim_text(launch.key.block); }},
    LaunchColumn{"Cluster Size", "", [](const Run&, const Record& launch) -> Cell { return dim_text(launch.key.cluster); }},
    LaunchColumn{"Occurrence", "", [](const Run&, const Record& launch) -> Cell { return std::uint64_t{launch.occurrence}; }},
    LaunchColumn{"Replay Mode", "", [](const Run&, const Record& launch) -> Cell { return replay_mode_name(launch.mode); }},
    LaunchColumn{"Cache Control", "",
                 [](const Run&, const Record& launch) -> Cell { return cache_control(launch.cache_control); }},
    LaunchColumn{"Passes", "", [](const Run&, const Record& launch) -> Cell { return std::uint64_t{launch.passes}; }},
    LaunchColumn{"cost_ns", "ns", [](const Run&, const Record& launch) -> Cell { return launch.cost_ns; }},
};

// First those of the metric sets that were used, in their order, then what was evaluated besides.
std::vector<std::string> metric_columns(const model::Run& run) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  std::unordered_set<std::uint32_t> sets;
  for (const model::Launch& launch : run.launches) {
    const auto set = run.metric_sets.find(launch.record.metric_set);
    if (set == run.metric_sets.end() || !sets.insert(set->first).second) continue;
    for (const std::string& name : set->second.metrics) add(name);
  }
  for (const model::Launch& launch : run.launches) {
    for (const auto& [name, value] : launch.values) add(name);
  }
  return names;
}

// What is said of a metric beside its value: over the launches of the same key that were measured alike.
struct SpreadColumn {
  const char* suffix;
  bool has_unit;
  Cell (*cell)(const model::Spread&);
};
constexpr std::array kSpreadColumns{
    SpreadColumn{" (n)", false, [](const model::Spread& spread) -> Cell { return spread.n(); }},
    SpreadColumn{" (min)", true, [](const model::Spread& spread) { return number_cell(spread.least()); }},
    SpreadColumn{" (max)", true, [](const model::Spread& spread) { return number_cell(spread.most()); }},
    SpreadColumn{" (stddev)", true, [](const model::Spread& spread) { return number_cell(spread.deviation()); }}};

void add_spread_columns(Table& table, const std::vector<std::string>& metrics, const UnitLookup& unit_of) {
  table.columns.push_back({"Samples", "launch"});
  table.columns.push_back({"SM Clock (Hz)", "hz"});
  for (const std::string& metric : metrics) {
    for (const SpreadColumn& column : kSpreadColumns) {
      table.columns.push_back({metric + column.suffix, column.has_unit ? unit_of(metric) : ""});
    }
  }
}

void add_spread_cells(std::vector<Cell>& row, const std::vector<std::string>& metrics, const model::AlikeLaunches& alike) {
  row.emplace_back(alike.launches);
  row.push_back(number_cell(alike.clock_hz.mean()));
  for (const std::string& metric : metrics) {
    const auto spread = alike.values.find(metric);
    for (const SpreadColumn& column : kSpreadColumns) {
      row.push_back(spread == alike.values.end() ? Cell{} : column.cell(spread->second));
    }
  }
}

// The metrics whose values cannot be, joined by "; ".
Cell unreliable_metrics(const model::Launch& launch) {
  std::string names;
  for (const auto& [name, value] : launch.values) {
    if (model::is_unreliable(name, value)) names += (names.empty() ? "" : "; ") + name;
  }
  return names.empty() ? Cell{} : Cell{names};
}

}  // namespace

Table metrics_report(const model::Run& run, const UnitLookup& unit_of) {
  const std::vector<std::string> metrics = metric_columns(run);
  Table table{"metrics", {}, {}};
  for (const LaunchColumn& column : kLaunchColumns) table.columns.push_back({column.name, column.unit});
  for (const std::string& metric : metrics) table.columns.push_back({metric, unit_of(metric)});
  for (const model::ComputedFigure& figure : model::computed_figures()) table.columns.push_back({figure.name, figure.unit});
  add_spread_columns(table, metrics, unit_of);
  table.columns.push_back({"Unreliable", ""});

  const model::RunFiguresByKey by_key(run);
  for (const model::Launch& launch : run.launches) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.reserve(table.columns.size());
    for (const LaunchColumn& column : kLaunchColumns) row.push_back(column.cell(run, launch.record));
    for (const std::string& metric : metrics) {
      const auto value = launch.values.find(metric);
      row.push_back(value == launch.values.end() ? Cell{} : Cell{value->second});
    }
    const auto figures = model::compute_figures(run, launch);
    for (const model::ComputedFigure& figure : model::computed_figures()) {
      const auto value = figures.find(figure.name);
      row.push_back(value == figures.end() ? Cell{} : to_cell(value->second));
    }
    add_spread_cells(row, metrics, by_key.of(launch));
    row.push_back(unreliable_metrics(launch));
  }
  return table;
}

}  // namespace dlkprof::report
