#include "model/samples/sample_edges.h"

#include <algorithm>

namespace dlkprof::model {
namespace {

constexpr std::uint64_t kFewest = 8;
// Of the squared sine of the angle between the two times: 0 where one is always the same multiple of the other.
constexpr double kLeastApart = 0.05;

}  // namespace

void TwoRates::add(double y, double u, double v) noexcept {
  ++count_;
  u_ += u;
  v_ += v;
  uu_ += u * u;
  uv_ += u * v;
  vv_ += v * v;
  yu_ += y * u;
  yv_ += y * v;
}

// The normal equations. A negative rate is none, and then the other one explains all.
std::optional<std::pair<double, double>> TwoRates::solve() const noexcept {
  const double determinant = uu_ * vv_ - uv_ * uv_;
  if (count_ < kFewest || !(determinant > kLeastApart * uu_ * vv_)) return std::nullopt;
  const double a = (yu_ * vv_ - yv_ * uv_) / determinant;
  const double b = (yv_ * uu_ - yu_ * uv_) / determinant;
  if (a < 0) return std::pair(0.0, std::max(0.0, yv_ / vv_));
  if (b < 0) return std::pair(std::max(0.0, yu_ / uu_), 0.0);
  return std::pair(a, b);
}

void SampleEdges::add(const SampleColumn& column, SampleColumn::Weighed whole, std::uint32_t first, std::int64_t first_ns,
                      std::uint32_t second, std::int64_t second_ns) {
  Sums& sums = pairs_[{first, second}][column.metric()];
  const auto u = static_cast<double>(first_ns);
  const auto v = static_cast<double>(second_ns);
  sums.values.add(whole.value * whole.weight, u, v);
  sums.weights.add(whole.weight, u, v);
  sums.by_time = column.weighted_by_time();
}

std::unordered_map<std::uint32_t, std::map<std::string, SampleEdges::Share>> SampleEdges::shares() const {
  std::unordered_map<std::uint32_t, std::map<std::string, Share>> shares;
  for (const auto& [configs, metrics] : pairs_) {
    for (const auto& [metric, sums] : metrics) {
      const auto rates = sums.values.solve();
      const auto weights = sums.by_time ? std::optional(std::pair(1.0, 1.0)) : sums.weights.solve();
      if (!rates || !weights) continue;
      const auto give = [&shares, &name = metric](std::uint32_t config, double rate, double weight, double time) {
        Share& share = shares[config][name];
        share.sum += rate * time;
        share.weight += weight * time;
      };
      give(configs.first, rates->first, weights->first, sums.values.u());
      give(configs.second, rates->second, weights->second, sums.values.v());
    }
  }
  return shares;
}

}  // namespace dlkprof::model
