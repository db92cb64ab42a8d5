#include "report/launches/reports.h"

#include "model/aggregate/provenance.h"
#include "model/aggregate/reliable.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using model::MeasuredFigure;

Fields<MeasuredFigure> measured_config_fields(const model::Timeline& timeline) {
  using Row = MeasuredFigure;
  const auto config = [&timeline](const Row& row) -> const model::Config& { return timeline.configs[row.config]; };
  Fields<Row> fields{
      {"Config", "", [](const Row& row) -> Cell { return std::uint64_t{row.config}; }},
      {"Process", "",
       [&timeline, config](const Row& row) -> Cell { return std::uint64_t{timeline.processes[config(row).process].record.pid}; }},
      {"Device", "", [config](const Row& row) -> Cell { return std::uint64_t{config(row).key.device}; }},
      {"Kernel Name", "",
       [&timeline, config](const Row& row) {
         const std::uint32_t kernel = config(row).kernel;
         return kernel == model::kNone ? Cell{} : Cell{timeline.kernels[kernel].name};
       },
       [&timeline, config](const Row& row) { return whole_name(timeline, config(row).kernel); }}};
  append(fields, size_fields(), [config](const Row& row) { return &config(row).key; });
  fields.push_back({"Dynamic Shared Memory (byte/block)", "byte/block",
                    [config](const Row& row) -> Cell { return std::uint64_t{config(row).key.dynamic_shared_bytes}; }});
  return fields;
}

Fields<MeasuredFigure> measured_spread_fields() {
  using Row = MeasuredFigure;
  return {{"Metric", "", [](const Row& row) -> Cell { return *row.metric; }},
          {"Samples", "launch", [](const Row& row) -> Cell { return row.values.n(); }},
          {"Mean", "", [](const Row& row) { return number_cell(row.values.mean()); }},
          {"Min", "", [](const Row& row) { return number_cell(row.values.least()); }},
          {"Max", "", [](const Row& row) { return number_cell(row.values.most()); }},
          {"Standard Deviation", "", [](const Row& row) { return number_cell(row.values.deviation()); }}};
}

// Why values of the row are left out of all means over ops; empty where none is.
Cell unreliable_cell(const MeasuredFigure& row) {
  const auto most = row.values.most();
  if (!most || !model::is_unreliable(*row.metric, *most)) return {};
  return model::unreliable_text(row.conditions ? row.conditions->passes : 0);
}

Fields<MeasuredFigure> measured_condition_fields() {
  using Row = MeasuredFigure;
  return {
      {"Collected By", "",
       [](const Row& row) { return row.conditions ? text_cell(model::replay_mode_text(row.conditions->replay_mode)) : Cell{}; }},
      {"Cache Control", "",
       [](const Row& row) { return row.conditions ? Cell{model::cache_control_text(row.conditions->cache_control)} : Cell{}; }},
      {"Passes", "", [](const Row& row) { return row.conditions ? Cell{std::uint64_t{row.conditions->passes}} : Cell{}; }},
      {"Metric Set", "",
       [](const Row& row) { return row.conditions ? Cell{std::uint64_t{row.conditions->metric_set}} : Cell{}; }},
      {"SM Clock (Hz)", "hz", [](const Row& row) { return number_cell(row.clock_hz.mean()); }},
      {"Unreliable", "", unreliable_cell}};
}

}  // namespace

Rows measured_report(const model::Profile& profile) {
  auto fields = measured_config_fields(profile.timeline);
  append(fields, measured_spread_fields());
  append(fields, measured_condition_fields());
  return make_rows("measured", std::move(fields), model::measured_figures(profile.timeline));
}

}  // namespace dlkprof::report
