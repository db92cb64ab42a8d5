// What was measured, what was not and why: a few lines for the end of a run.
#pragma once

#include <string>
#include <vector>

#include "model/timeline/timeline.h"
#include "report/format/table.h"

namespace dlkprof::report {

// For people: each process after the other, and what there is to say of the whole.
[[nodiscard]] std::string coverage(const model::Timeline& timeline);

// A figure of it for scripts.
struct CoverageFigure {
  std::string name, unit;
  Cell value;
};

// Of all processes, added up; none where nothing was launched.
[[nodiscard]] std::vector<CoverageFigure> coverage_figures(const model::Timeline& timeline);

}  // namespace dlkprof::report
