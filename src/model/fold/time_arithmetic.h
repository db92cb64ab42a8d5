// Arithmetic over times that come from files, which may say anything: nothing here overflows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

inline constexpr std::int64_t kMostNs = std::numeric_limits<std::int64_t>::max();

// 0 where time runs backwards.
[[nodiscard]] inline std::int64_t elapsed_ns(std::int64_t start, std::int64_t end) {
  if (end <= start) return 0;
  std::int64_t length = 0;
  return __builtin_sub_overflow(end, start, &length) ? kMostNs : length;
}

// `value` is not negative.
inline void add_ns(std::int64_t& total, std::int64_t value) {
  if (__builtin_add_overflow(total, value, &total)) total = kMostNs;
}

// Of what was computed, towards zero; 0 where it is no number.
[[nodiscard]] inline std::int64_t whole_ns(double ns) {
  constexpr double kBound = 0x1p63;  // the least that does not fit
  if (!(ns > -kBound)) return ns <= -kBound ? -kMostNs : 0;
  return ns < kBound ? static_cast<std::int64_t>(ns) : kMostNs;
}

[[nodiscard]] inline bool is_timed(const Activity& activity) { return activity.start_ns != 0 || activity.end_ns != 0; }
// Its GPU time; 0 where it was not timed.
[[nodiscard]] inline std::int64_t gpu_ns(const Activity& activity) { return elapsed_ns(activity.start_ns, activity.end_ns); }

// Intervals flattened (guide, 8.5): what they cover together. They are added by rising start.
class Flattened {
 public:
  void add(std::int64_t start, std::int64_t end) {
    if (empty_) {
      first_ = end_ = start;
      empty_ = false;
    }
    add_ns(covered_, elapsed_ns(std::max(start, end_), end));
    end_ = std::max(end_, end);
  }
  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] std::int64_t covered_ns() const { return covered_; }
  // From the first start to the last end.
  [[nodiscard]] std::int64_t extent_ns() const { return elapsed_ns(first_, end_); }
  [[nodiscard]] std::int64_t idle_ns() const { return elapsed_ns(covered_, extent_ns()); }

 private:
  bool empty_ = true;
  std::int64_t first_ = 0, end_ = 0, covered_ = 0;
};

}  // namespace dlkprof::model
