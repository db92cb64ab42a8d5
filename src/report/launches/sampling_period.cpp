#include "report/launches/sampling_period.h"

#include <fmt/format.h>

#include <algorithm>

namespace dlkprof::report {

Cell sampling_period(const model::PcSamples& samples) {
  if (samples.totals.empty()) return {};
  std::uint32_t shortest = samples.totals.front().shortest_log2, longest = samples.totals.front().longest_log2;
  for (const model::PcTotals& totals : samples.totals) {
    shortest = std::min(shortest, totals.shortest_log2);
    longest = std::max(longest, totals.longest_log2);
  }
  if (shortest == longest) return std::uint64_t{1} << longest;
  return fmt::format("{} to {}", std::uint64_t{1} << shortest, std::uint64_t{1} << longest);
}

}  // namespace dlkprof::report
