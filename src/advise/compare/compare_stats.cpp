#include "advise/compare/compare_stats.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "model/aggregate/quantile.h"

namespace dlkprof::advise {
namespace {

// What both samples together say.
struct Ranks {
  double sum_of_a = 0;  // of the ranks of the first sample, from 1; values that are the same share the mean of their ranks
  double ties = 0;      // sum of t^3 - t over groups of t values that are the same
};

Ranks rank(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;  // whether it is of the first
  all.reserve(a.size() + b.size());
  for (const double value : a) all.emplace_back(value, true);
  for (const double value : b) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  Ranks ranks;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    std::size_t of_a = 0;
    for (; end < all.size() && all[end].first == all[first].first; ++end) of_a += all[end].second ? 1 : 0;
    const auto tied = static_cast<double>(end - first);
    ranks.sum_of_a += static_cast<double>(of_a) * static_cast<double>(first + end + 1) / 2;
    ranks.ties += tied * tied * tied - tied;
    first = end;
  }
  return ranks;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.size(), model::quantile(values, 0.5), model::quantile(values, 0.25), model::quantile(values, 0.75)};
}

std::optional<double> mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (std::min(a.size(), b.size()) < kLeastValues) return std::nullopt;
  const Ranks ranks = rank(a, b);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double all = n + m;
  const double u = ranks.sum_of_a - n * (n + 1) / 2;
  const double variance = n * m / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (!(variance > 0)) return 1.0;  // all values are the same
  const double distance = std::max(std::abs(u - n * m / 2) - 0.5, 0.0) / std::sqrt(variance);
  return std::erfc(distance / std::numbers::sqrt2);
}

void correct_for_many(std::vector<std::optional<double>>& ps) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < ps.size(); ++i) {
    if (ps[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&ps](std::size_t a, std::size_t b) { return *ps[a] < *ps[b]; });
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, *ps[order[i]] * static_cast<double>(order.size() - i));
    ps[order[i]] = std::min(largest, 1.0);
  }
}

}  // namespace dlkprof::advise
