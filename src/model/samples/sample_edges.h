// What samples tell that two neighbours share: one kernel ends in such a sample's interval and another begins, so that what was
// counted is both's. Where the two follow one another often, intervals cut them at different places, and least squares over all
// of these samples find both rates: that of the one near its end, that of the other near its beginning. Without them the ends of
// kernels that follow one another without a pause would be missing from what is known of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/samples/sample_columns.h"

namespace dlkprof::model {

// Sums of y, u and v over observations of y = a u + b v, both of which are at least 0.
class TwoRates {
 public:
  void add(double y, double u, double v) noexcept;
  // None from a few observations, or where u and v hardly vary on their own.
  [[nodiscard]] std::optional<std::pair<double, double>> solve() const noexcept;
  // Over all observations.
  [[nodiscard]] double u() const noexcept { return u_; }
  [[nodiscard]] double v() const noexcept { return v_; }

 private:
  std::uint64_t count_ = 0;
  double u_ = 0, v_ = 0, uu_ = 0, uv_ = 0, vv_ = 0, yu_ = 0, yv_ = 0;
};

class SampleEdges {
 public:
  // What a metric's sum of values and of their weights have from shared samples (SampleColumn::Weighed).
  struct Share {
    double sum = 0, weight = 0;
  };
  // A sample of which configuration `first` had `first_ns` and then `second` had `second_ns`. `whole`: of both.
  void add(const SampleColumn& column, SampleColumn::Weighed whole, std::uint32_t first, std::int64_t first_ns,
           std::uint32_t second, std::int64_t second_ns);
  // By configuration and metric.
  [[nodiscard]] std::unordered_map<std::uint32_t, std::map<std::string, Share>> shares() const;

 private:
  struct Sums {
    TwoRates values, weights;
    bool by_time = true;  // weights are the times themselves
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::string, Sums>> pairs_;  // by configurations and metric
};

}  // namespace dlkprof::model
