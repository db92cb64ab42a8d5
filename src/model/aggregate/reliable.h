// Figures that cannot be. A share of something, in per cent, is made of two counters; where these are read in different passes
// over a kernel of a few microseconds they disagree, and the share comes out above 100 %. Such a value stays in `metrics`,
// `measured` and the database, marked as unreliable, and is left out of means, verdicts and findings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlkprof::model {

// Rounded to two decimals, as values are printed, it is above 100.
inline constexpr double kMostPercent = 100.005;

// Whether a metric is a share that 100 % bounds: of what can be sustained, of accesses that hit, of the warps that fit. By its
// name: NVPerf's other ratios in per cent, such as the warps that wait an instruction issued, have no bound.
[[nodiscard]] inline bool is_share(std::string_view metric) {
  constexpr std::string_view kOfPeak = ".pct_of_peak_sustained_", kOfAccesses = "_hit_rate.pct";
  return metric.find(kOfPeak) != std::string_view::npos || metric.ends_with(kOfAccesses);
}

[[nodiscard]] inline bool is_unreliable(std::string_view metric, double value) {
  return value > kMostPercent && is_share(metric);
}

// Why, for a footnote.
[[nodiscard]] std::string unreliable_text(std::size_t passes);

}  // namespace dlkprof::model
