#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace dlkprof::model {

// Interpolated linearly between order statistics (definition 7 of Hyndman and Fan, "Sample quantiles in statistical
// packages", 1996). `sorted` is not empty; `part` is from 0 to 1.
[[nodiscard]] inline double quantile(std::span<const double> sorted, double part) {
  const double position = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace dlkprof::model
