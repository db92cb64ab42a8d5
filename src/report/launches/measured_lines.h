// What was measured, in one line a launch configuration: for the end of a profile.
#pragma once

#include <cstddef>
#include <string>

#include "model/timeline/timeline.h"

namespace dlkprof::report {

inline constexpr std::size_t kMeasuredLines = 10;

// On how many launches, how long they took and how far they lie apart, at which clock, how they were collected and with which
// caches; by GPU time, at most so many. Empty where nothing was measured. No line is longer than 80 columns.
[[nodiscard]] std::string measured_lines(const model::Timeline& timeline, std::uint32_t process,
                                         std::size_t most = kMeasuredLines);

}  // namespace dlkprof::report
