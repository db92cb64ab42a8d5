// How the ends of a key node part time into iterations (guide, chapter 7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/fold/fold.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class IterationSplit {
 public:
  // Where a new iteration begins.
  explicit IterationSplit(std::vector<std::int64_t> stops) : stops_(std::move(stops)) { std::sort(stops_.begin(), stops_.end()); }

  // The iteration that an instant belongs to, from 0.
  [[nodiscard]] std::uint32_t at(std::int64_t time_ns) const {
    return static_cast<std::uint32_t>(std::upper_bound(stops_.begin(), stops_.end(), time_ns) - stops_.begin());
  }
  // Those of times that come in rising order: the iteration of the last one, to that of `time_ns`.
  void advance(std::uint32_t& iteration, std::int64_t time_ns) const {
    while (iteration < stops_.size() && stops_[iteration] <= time_ns) ++iteration;
  }
  // N + 1 intervals for N stops.
  [[nodiscard]] std::vector<Iteration> intervals(const Timeline& timeline) const;

 private:
  std::vector<std::int64_t> stops_;
};

// Where an iteration ends for those who measure its length: at the beginning of the next.
[[nodiscard]] std::int64_t iteration_end_ns(const Fold& fold, std::uint32_t iteration);
[[nodiscard]] std::int64_t iteration_length_ns(const Fold& fold, std::uint32_t iteration);

}  // namespace dlkprof::model
