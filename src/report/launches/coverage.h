// What was measured, what was not and why: a few lines for the end of a run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/timeline/timeline.h"
#include "report/format/table.h"

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
// The same from a timeline, as a database has it; none where it holds no counts.
[[nodiscard]] std::vector<CoverageFigure> coverage_figures(const model::Timeline& timeline);

}  // namespace dlkprof::report
