// How far values lie apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace dlkprof::model {

// Count, mean, least, most and standard deviation of values, by Welford's method, which does not cancel where the mean is large
// beside the deviation. What is not finite is left out.
class Spread {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    least_ = n_ == 0 ? value : std::min(least_, value);
    most_ = n_ == 0 ? value : std::max(most_, value);
    ++n_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(n_);
    squares_ += off * (value - mean_);
  }

  [[nodiscard]] std::uint64_t n() const { return n_; }
  // None where there is no value, or the figure is beyond what a double can hold.
  [[nodiscard]] std::optional<double> mean() const { return figure(mean_, 1); }
  [[nodiscard]] std::optional<double> least() const { return figure(least_, 1); }
  [[nodiscard]] std::optional<double> most() const { return figure(most_, 1); }
  // Of the sample (n - 1): none of fewer than two values.
  [[nodiscard]] std::optional<double> deviation() const {
    return n_ < 2 ? std::nullopt : figure(std::sqrt(squares_ / static_cast<double>(n_ - 1)), 2);
  }

 private:
  [[nodiscard]] std::optional<double> figure(double value, std::uint64_t least_n) const {
    return n_ >= least_n && std::isfinite(value) ? std::optional(value) : std::nullopt;
  }

  std::uint64_t n_ = 0;
  double mean_ = 0, squares_ = 0, least_ = 0, most_ = 0;
};

}  // namespace dlkprof::model
