// Telling a change from noise: order statistics and the rank test that comparisons of runs go by.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace dlkprof::advise {

// Of so many values; all 0 where there are none.
struct Spread {
  std::size_t n = 0;
  double median = 0, lower = 0, upper = 0;  // lower and upper: the quartiles
};

// Quantiles are those of model/aggregate/quantile.h.
[[nodiscard]] Spread spread_of(std::vector<double> values);

// From here on, on either side, the normal approximation of the rank test holds: its authors find it good for 8 and 8.
inline constexpr std::size_t kLeastValues = 8;

// The two-sided p of the Mann-Whitney U test ("On a test of whether one of two random variables is stochastically larger than
// the other", 1947): how often values that come from one distribution would be ranked as unlike as these. It asks nothing of
// the distribution, and a few slow iterations weigh no more than others. Normal approximation, with the corrections for ties and
// continuity. None where there are fewer than kLeastValues on a side.
[[nodiscard]] std::optional<double> mann_whitney(std::span<const double> a, std::span<const double> b);

// Each p so much larger as is due where so many are looked at (Holm, "A simple sequentially rejective multiple test procedure",
// 1979); absent ones stay absent and do not count.
void correct_for_many(std::vector<std::optional<double>>& ps);

}  // namespace dlkprof::advise
