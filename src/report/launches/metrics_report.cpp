#include <array>
#include <memory>
#include <unordered_set>
#include <utility>

#include "model/aggregate/computed.h"
#include "model/aggregate/measured_launches.h"
#include "model/aggregate/reliable.h"
#include "report/launches/launch_text.h"
#include "report/launches/reports.h"
#include "report/launches/section_rows.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

// A row: a measured launch, and what is known of it.
struct LaunchRow {
  const model::Config* config = nullptr;
  const model::MeasuredLaunch* how = nullptr;
  const model::AlikeLaunches* alike = nullptr;
  model::Values values;
  std::map<std::string, model::FigureValue> figures;
};

Fields<LaunchRow> launch_fields(const model::Timeline& timeline) {
  using Row = LaunchRow;
  const auto number = [](std::uint32_t model::MeasuredLaunch::*figure) {
    return [figure](const Row& row) -> Cell { return std::uint64_t{row.how->*figure}; };
  };
  Fields<Row> fields{
      {"ID", "", [](const Row& row) -> Cell { return row.how->launch_index; }},
      {"Process", "",
       [&timeline](const Row& row) -> Cell { return std::uint64_t{timeline.processes[row.config->process].record.pid}; }},
      {"Device", "", [](const Row& row) -> Cell { return std::uint64_t{row.config->key.device}; }},
      {"Context", "", number(&model::MeasuredLaunch::context)},
      {"Stream", "", number(&model::MeasuredLaunch::stream)},
      {"Kernel Name", "", [&timeline](const Row& row) -> Cell { return demangled_name(timeline, *row.config); },
       [&timeline](const Row& row) { return whole_name(timeline, row.config->kernel); }},
      {"Mangled Name", "", [&timeline](const Row& row) -> Cell { return mangled_name(timeline, *row.config); }}};
  append(fields, size_fields(), [](const Row& row) { return &row.config->key; });
  append(fields, {{"Occurrence", "", number(&model::MeasuredLaunch::occurrence)},
                  {"Replay Mode", "", [](const Row& row) -> Cell { return replay_mode_name(row.how->replay_mode); }},
                  {"Cache Control", "", [](const Row& row) -> Cell { return model::cache_control_text(row.how->cache_control); }},
                  {"Passes", "", number(&model::MeasuredLaunch::passes)},
                  {"cost_ns", "ns", [](const Row& row) -> Cell { return row.how->cost_ns; }}});
  return fields;
}

// First those of the metric sets that were used, in their order, then what was evaluated besides.
std::vector<std::string> metric_columns(const model::Timeline& timeline, const std::vector<model::Launch>& launches) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  std::unordered_set<std::uint32_t> sets;
  for (const model::Launch& launch : launches) {
    if (!sets.insert(launch.how->metric_set).second) continue;
    for (const std::string& name : timeline.metric_sets[launch.how->metric_set].record.metrics) add(name);
  }
  std::unordered_set<std::uint32_t> configs;
  for (const model::Launch& launch : launches) {
    const auto metrics = timeline.measured.find(launch.config);
    if (metrics == timeline.measured.end() || !configs.insert(launch.config).second) continue;
    for (const auto& [name, values] : metrics->second) add(name);
  }
  return names;
}

// The value of a name in a map of a row's; empty where it is not there.
template <typename Map, typename ToCell>
auto find_in(Map LaunchRow::*map, std::string name, ToCell to) {
  return [map, name = std::move(name), to](const LaunchRow& row) {
    const auto found = (row.*map).find(name);
    return found == (row.*map).end() ? Cell{} : to(found->second);
  };
}

// What is said of a metric beside its value: over the launches of the same configuration that were measured alike.
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

void add_spread_fields(Fields<LaunchRow>& fields, const std::vector<std::string>& metrics, const UnitLookup& unit_of) {
  fields.push_back({"Samples", "launch", [](const LaunchRow& row) -> Cell { return row.alike->launches; }});
  fields.push_back({"SM Clock (Hz)", "hz", [](const LaunchRow& row) { return number_cell(row.alike->clock_hz.mean()); }});
  for (const std::string& metric : metrics) {
    for (const SpreadColumn& column : kSpreadColumns) {
      fields.push_back(
          {metric + column.suffix, column.has_unit ? unit_of(metric) : "", [metric, cell = column.cell](const LaunchRow& row) {
             const auto spread = row.alike->values.find(metric);
             return spread == row.alike->values.end() ? Cell{} : cell(spread->second);
           }});
    }
  }
}

// The metrics whose values cannot be, joined by "; ".
Cell unreliable_metrics(const LaunchRow& row) {
  std::string names;
  for (const auto& [name, value] : row.values) {
    if (model::is_unreliable(name, value)) names += (names.empty() ? "" : "; ") + name.text();
  }
  return names.empty() ? Cell{} : Cell{names};
}

}  // namespace

Rows metrics_report(const model::Profile& profile, const UnitLookup& unit_of) {
  const model::Timeline& timeline = profile.timeline;
  struct All {
    std::vector<model::Launch> launches;
    model::AlikeTable alike;
    LaunchRow row;  // the one that is being written
  };
  const auto all = std::make_shared<All>(All{model::launches_of(timeline), model::alike_launches(timeline), {}});
  const std::vector<std::string> metrics = metric_columns(timeline, all->launches);
  Fields<LaunchRow> fields = launch_fields(timeline);
  for (const std::string& metric : metrics) {
    fields.push_back({metric, unit_of(metric), find_in(&LaunchRow::values, metric, [](double value) { return Cell{value}; })});
  }
  for (const model::ComputedFigure& figure : model::computed_figures()) {
    fields.push_back({figure.name, figure.unit, find_in(&LaunchRow::figures, figure.name, to_cell)});
  }
  add_spread_fields(fields, metrics, unit_of);
  fields.push_back({"Unreliable", "", unreliable_metrics});
  const std::size_t count = all->launches.size();
  return make_rows("metrics", std::move(fields), count, [&timeline, all](std::size_t i) -> const LaunchRow& {
    const model::Launch& launch = all->launches[i];
    const model::Config& config = timeline.configs[launch.config];
    all->row = {&config, launch.how, &all->alike.at({launch.config, launch.conditions()}), model::values_of(timeline, launch),
                model::compute_figures(timeline, config)};
    return all->row;
  });
}

}  // namespace dlkprof::report
