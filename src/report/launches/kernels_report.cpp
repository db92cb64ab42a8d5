#include "report/launches/kernels_report.h"

#include <variant>

#include "report/launches/launch_text.h"
#include "report/launches/section_rows.h"

namespace dlkprof::report {

Table kernels_report(const model::Run& run, const std::vector<cupti::Section>& sections) {
  Table table{"kernels",
              {{"ID", ""}, {"Kernel Name", ""}, {"Section", ""}, {"Label", ""}, {"Metric", ""}, {"Unit", ""}, {"Value", ""}},
              {}};
  for (const model::Launch& launch : run.launches) {
    const auto figures = model::compute_figures(run, launch);
    for (const cupti::Section& section : sections) {
      for (const SectionValue& value : section_values(section, launch, figures)) {
        table.rows.push_back({launch.record.index, demangled_name(run, launch.record.key), section.name, value.label,
                              value.metric, value.unit, to_cell(value.value)});
      }
    }
  }
  return table;
}

}  // namespace dlkprof::report
