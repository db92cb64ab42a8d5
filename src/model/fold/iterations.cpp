#include "model/fold/iterations.h"

#include <limits>

namespace dlkprof::model {

std::vector<Iteration> IterationSplit::intervals(const Timeline& timeline) const {
  constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
  std::vector<Iteration> intervals;
  intervals.reserve(stops_.size() + 1);
  std::int64_t start = timeline.first_ns;
  for (const std::int64_t stop : stops_) {
    intervals.push_back({start, stop == kEarliest ? stop : stop - 1});
    start = stop;
  }
  intervals.push_back({start, std::max(start, timeline.last_ns)});
  return intervals;
}

}  // namespace dlkprof::model
