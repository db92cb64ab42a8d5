#include "model/fold/iterations.h"

#include <limits>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {

std::vector<Iteration> IterationSplit::intervals(const Timeline& timeline) const {
  constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
  std::vector<Iteration> intervals;
  intervals.reserve(stops_.size() + 1);
  std::int64_t start = timeline.first_ns;
  for (const std::int64_t stop : stops_) {
    intervals.push_back({.start_ns = start, .stop_ns = stop == kEarliest ? stop : stop - 1});
    start = stop;
  }
  intervals.push_back({.start_ns = start, .stop_ns = std::max(start, timeline.last_ns)});
  return intervals;
}

std::int64_t iteration_end_ns(const Fold& fold, std::uint32_t iteration) {
  return iteration + 1 < fold.iterations.size() ? fold.iterations[iteration + 1].start_ns : fold.iterations[iteration].stop_ns;
}

std::int64_t iteration_length_ns(const Fold& fold, std::uint32_t iteration) {
  return elapsed_ns(fold.iterations[iteration].start_ns, iteration_end_ns(fold, iteration));
}

}  // namespace dlkprof::model
