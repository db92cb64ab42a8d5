#include <memory>

#include "model/aggregate/measured_launches.h"
#include "report/launches/launch_text.h"
#include "report/launches/reports.h"
#include "report/launches/section_rows.h"

namespace dlkprof::report {

Rows kernels_report(const model::Profile& profile, const std::vector<cupti::Section>& sections) {
  const model::Timeline& timeline = profile.timeline;
  const auto table = std::make_shared<Table>(Table{"kernels",
                                                   {{"ID", ""},
                                                    {"Kernel Name", ""},
                                                    {"Section", ""},
                                                    {"Label", ""},
                                                    {"Metric", ""},
                                                    {"Unit", ""},
                                                    {"Value", ""},
                                                    {"Process", ""}},
                                                   {}});
  for (const model::Launch& launch : model::launches_of(timeline)) {
    const model::Config& config = timeline.configs[launch.config];
    const auto figures = model::compute_figures(timeline, config);
    const model::Values measured = model::values_of(timeline, launch);
    const std::uint64_t pid = timeline.processes[config.process].record.pid;
    for (const cupti::Section& section : sections) {
      for (const SectionValue& value : section_values(section, measured, figures)) {
        table->rows.push_back({launch.how->launch_index, demangled_name(timeline, config), section.name, value.label,
                               value.metric, value.unit, to_cell(value.value), pid});
      }
    }
  }
  Rows rows = rows_of(*table);
  rows.fill = [table](std::size_t row, std::vector<Cell>& cells) { cells = table->rows[row]; };
  return rows;
}

}  // namespace dlkprof::report
