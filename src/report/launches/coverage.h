// What was measured, what was not and why: a few lines for the end of a run.
#pragma once

#include <cstddef>
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

inline constexpr std::size_t kMeasuredLines = 10;

// What was measured, in one line per launch configuration: on how many launches, how long they took and how far they lie apart,
// at which clock, how they were collected and with which caches; by GPU time, at most so many. Empty where nothing was measured.
// No line is longer than 80 columns.
[[nodiscard]] std::string measured_lines(const model::Timeline& timeline, std::uint32_t process,
                                         std::size_t most = kMeasuredLines);

}  // namespace dlkprof::report
