#include "model/aggregate/steady_range.h"

#include <algorithm>
#include <vector>

#include "model/aggregate/quantile.h"
#include "model/fold/iterations.h"

namespace dlkprof::model {
namespace {

constexpr double kInner = 1.5, kOuter = 3;  // of the interquartile range
constexpr std::size_t kLeastSteady = 2;     // of a single value there is no standard error

struct Fences {
  double low = 0, high = 0;
  [[nodiscard]] bool has(double value) const { return low <= value && value <= high; }
};

Fences fences_of(std::span<const double> values, double ranges) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double lower = quantile(sorted, 0.25), upper = quantile(sorted, 0.75);
  const double width = std::max(ranges * (upper - lower), kLittleVariation / 100 * quantile(sorted, 0.5));
  return {lower - width, upper + width};
}

// The truncation that MSER chooses: of at most half of the values. Goes backward, adding values to their mean and sum of squared
// deviations by Welford's method.
std::size_t mser(std::span<const double> values) {
  const Fences fences = fences_of(values, kInner);
  const std::size_t most = std::min(values.size() / 2, values.size() - kLeastSteady);
  double mean = 0, squares = 0, best = 0;
  std::size_t chosen = most;
  for (std::size_t i = values.size(); i-- > 0;) {
    const auto n = static_cast<double>(values.size() - i);
    const double off = std::clamp(values[i], fences.low, fences.high) - mean;
    mean += off / n;
    squares += off * off * (n - 1) / n;
    if (i > most) continue;
    const double error = squares / (n * n);
    if (i < most && error > best) continue;
    best = error;
    chosen = i;
  }
  return chosen;
}

std::size_t leading_to_cut(std::span<const double> values) {
  if (values.size() < kLeastIterationsForRule) return 0;
  const std::size_t proposed = mser(values);
  const Fences fences = fences_of(values.subspan(proposed), kOuter);
  std::size_t cut = 0, outside = 0;
  for (std::size_t i = 0; i < proposed; ++i) {
    if (fences.has(values[i])) continue;
    ++outside;
    if (2 * outside > i + 1) cut = i + 1;
  }
  return cut;
}

}  // namespace

SteadyPart steady_part(std::span<const double> lengths) {
  const std::size_t first = leading_to_cut(lengths);
  const std::vector<double> reversed(lengths.rbegin(), lengths.rend() - static_cast<std::ptrdiff_t>(first));
  return {first, reversed.size() - leading_to_cut(reversed)};
}

namespace {

// Lengths as parts of the median of their kind, so that kinds that alternate are no variation.
void scale_by_kind(const Fold& fold, std::vector<double>& lengths) {
  std::vector<std::vector<double>> of_kind(fold.kinds.size());
  const auto kind_of = [&fold](std::size_t whole) { return fold.iterations[whole + 1].kind; };
  for (std::size_t i = 0; i < lengths.size(); ++i) of_kind.at(kind_of(i)).push_back(lengths[i]);
  std::vector<double> medians;
  for (std::vector<double>& some : of_kind) {
    std::sort(some.begin(), some.end());
    medians.push_back(some.empty() ? 0 : quantile(some, 0.5));
  }
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (medians[kind_of(i)] > 0) lengths[i] /= medians[kind_of(i)];
  }
}

}  // namespace

SteadyRange find_steady_range(const Fold& fold) {
  auto last = static_cast<std::uint32_t>(fold.iterations.size() - 1);
  if (fold.key_nodes_found == 0) return {0, last, false, "no iterations were found"};
  if (last < 2) return {0, last, false, "no iteration is whole: the key node ends only once"};
  const std::uint32_t all = last;
  while (last > 1 && fold.iterations[last - 1].stop_ns > fold.times_lost_from_ns) --last;
  if (last < 2) return {0, all, false, "GPU times of all whole iterations are lost: the capture was not closed"};
  std::vector<double> lengths;
  for (std::uint32_t i = 1; i < last; ++i) lengths.push_back(static_cast<double>(iteration_length_ns(fold, i)));
  if (!fold.kinds.empty()) scale_by_kind(fold, lengths);
  const SteadyPart part = steady_part(lengths);
  const bool few = lengths.size() < kLeastIterationsForRule;
  const auto first = static_cast<std::uint32_t>(1 + part.first);
  return {first, first + static_cast<std::uint32_t>(part.count) - 1, true,
          few ? "too few whole iterations to tell warm-up from the rest" : ""};
}

}  // namespace dlkprof::model
