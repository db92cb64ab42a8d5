// The rows of a section that one launch has values for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "model/aggregate/computed.h"
#include "model/aggregate/measured_launches.h"
#include "report/format/table.h"

namespace dlkprof::report {

struct SectionValue {
  std::string label;
  std::string unit;    // base unit
  std::string metric;  // the metric or computed figure behind it
  model::FigureValue value;
};

// In the order of the section; rows without a value are left out.
[[nodiscard]] std::vector<SectionValue> section_values(const cupti::Section& section, const model::Values& measured,
                                                       const std::map<std::string, model::FigureValue>& figures);

[[nodiscard]] Cell to_cell(const model::FigureValue& value);

// Names of those of which nothing was measured in any launch; sections that need no counter are never among them.
[[nodiscard]] std::vector<std::string> unmeasured_sections(const model::Timeline& timeline,
                                                           const std::vector<cupti::Section>& sections);

// A stall reason: warp cycles waited per instruction issued, and the share of all such cycles.
struct StallRow {
  std::string label;
  double cycles = 0;
  double share = 0;  // 0..1
};

// Takes the stall reasons out of `values`; sorted descending, those below 0.5 % of the sum folded into one row; then what was
// issued, as it waits for nothing.
[[nodiscard]] std::vector<StallRow> take_stalls(std::vector<SectionValue>& values);

}  // namespace dlkprof::report
