// A batch of samples by metric: what each value counts, and what it stands for.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "capture/samples.h"

namespace dlkprof::model {

// Whether a metric is a figure of a whole launch, which grows with its length, and no rate, ratio or share.
[[nodiscard]] bool grows_with_length(const std::string& metric);

// Whether it is work by time: a count, a rate, or a share of what was possible in all of the time; and nothing that goes on
// without work, as clocks do.
[[nodiscard]] bool is_activity_by_time(const std::string& metric);

class SampleColumn {
 public:
  // Of each metric of the batch; both outlive the columns.
  [[nodiscard]] static std::vector<SampleColumn> of(const std::vector<std::string>& metrics, const capture::SampleBatch& batch);

  struct Weighed {
    double value = 0, weight = 0;
  };
  // A figure that grows is told by the nanosecond. `busy_ns`: of the sample's time, in which all of its work was done; what is
  // told by time is then that of these. None where the sample has no such value.
  [[nodiscard]] std::optional<Weighed> at(std::size_t sample, std::int64_t busy_ns) const {
    const auto time = static_cast<double>((*lengths_)[sample]);
    const auto busy = static_cast<double>(busy_ns);
    const double value = (*values_)[sample];
    const double weight = weights_ != nullptr ? (*weights_)[sample] : busy;
    if (!std::isfinite(value) || !std::isfinite(weight) || weight < 0 || !(busy > 0)) return std::nullopt;
    const double whole = by_time_ ? value * (time / busy) : value;
    return Weighed{grows_ ? whole / time : whole, weight};
  }
  [[nodiscard]] std::optional<Weighed> at(std::size_t sample) const { return at(sample, (*lengths_)[sample]); }
  [[nodiscard]] const std::string& metric() const { return *metric_; }
  [[nodiscard]] bool grows() const { return grows_; }
  [[nodiscard]] bool weighted_by_time() const { return weights_ == nullptr; }

 private:
  const std::string* metric_ = nullptr;
  const std::vector<float>* values_ = nullptr;
  const std::vector<float>* weights_ = nullptr;  // null: weighted by time
  const std::vector<std::int64_t>* lengths_ = nullptr;
  bool grows_ = false;
  bool by_time_ = false;  // work done, by the time that the sample took
};

}  // namespace dlkprof::model
