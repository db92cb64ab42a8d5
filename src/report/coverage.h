// What was measured, what was not and why: a few lines for the end of a run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/run.h"
#include "report/table.h"

namespace dlkprof::report {

// For people.
[[nodiscard]] std::string coverage(const model::Run& run);

// A figure of it for scripts.
struct CoverageFigure {
  std::string name, unit;
  Cell value;
};

// Of all processes of a profile, added up; none where there is no run.
[[nodiscard]] std::vector<CoverageFigure> coverage_figures(std::span<const model::Run> runs);

}  // namespace dlkprof::report
