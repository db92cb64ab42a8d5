// Figures of a launch that need no counter: its configuration and theoretical occupancy. The `computed` rows of
// sections name them, and reports have a column for each.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

using FigureValue = std::variant<double, std::string>;

struct ComputedFigure {
  std::string name;  // block_limit_registers
  std::string unit;  // base unit, as SectionRow::unit
};

// Every figure there is, in the order of report columns.
[[nodiscard]] const std::vector<ComputedFigure>& computed_figures();

// The figures of the launches of a configuration by name. Absent where the capture lacks what they need, or the GPU is not
// known.
[[nodiscard]] std::map<std::string, FigureValue> compute_figures(const Timeline& timeline, const Config& config);

}  // namespace dlkprof::model
