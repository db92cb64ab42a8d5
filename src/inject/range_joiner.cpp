#include "inject/range_joiner.h"

#include <algorithm>
#include <utility>

namespace dlkprof::inject {

using capture::RangeEvent;

void RangeJoiner::add(std::span<const RangeEvent> ranges, std::vector<RangeEvent>& whole) {
  for (const RangeEvent& range : ranges) {
    (range.end_ns == kStillOpen ? threads_[range.id >> kRangeThreadShift] : whole).push_back(range);
  }
  if (!early_.empty()) add(std::exchange(early_, {}), whole);
}

void RangeJoiner::add(std::span<const RangeEnd> ends, std::vector<RangeEvent>& whole) {
  for (const RangeEnd& end : ends) {
    Open& open = threads_[end.range >> kRangeThreadShift];
    const auto by_id = [](const RangeEvent& range, std::uint64_t id) { return range.id < id; };
    const auto found = std::lower_bound(open.begin(), open.end(), end.range, by_id);
    if (found == open.end() || found->id != end.range) {
      early_.push_back(end);
    } else if (found->end_ns == kStillOpen) {
      // 0: it never ended. Two clocks that take turns may be a microsecond apart.
      found->end_ns = end.end_ns == 0 ? 0 : std::max(end.end_ns, found->start_ns);
      whole.push_back(*found);
    }
  }
  drop_ended();
}

void RangeJoiner::take_open(std::vector<RangeEvent>& whole) {
  for (auto& [number, open] : std::exchange(threads_, {})) {
    for (RangeEvent& range : open) {
      range.end_ns = 0;
      whole.push_back(range);
    }
  }
}

void RangeJoiner::drop_ended() {
  for (auto& [number, open] : threads_) std::erase_if(open, [](const RangeEvent& range) { return range.end_ns != kStillOpen; });
  std::erase_if(threads_, [](const auto& thread) { return thread.second.empty(); });
}

}  // namespace dlkprof::inject
