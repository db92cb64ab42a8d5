#include "inject/timeline/range_joiner.h"

#include <algorithm>
#include <utility>

namespace dlkprof::inject {

using capture::RangeEvent;

void RangeJoiner::add(std::span<const RangeEvent> ranges, std::vector<RangeEvent>& whole) {
  for (const RangeEvent& range : ranges) {
    (range.end_ns == kStillOpen ? threads_[range.id >> kRangeThreadShift].ranges : whole).push_back(range);
  }
  if (!early_.empty()) add(std::exchange(early_, {}), whole);
}

void RangeJoiner::add(std::span<const RangeEnd> ends, std::vector<RangeEvent>& whole) {
  std::vector<std::uint64_t> changed;  // others may have many open, and nothing to do with it
  for (const RangeEnd& end : ends) {
    RangeEvent* const range = find(end.range);
    if (range == nullptr) {
      early_.push_back(end);
    } else if (range->end_ns == kStillOpen) {
      // 0: it never ended. Two clocks that take turns may be some microseconds apart.
      range->end_ns = end.end_ns == 0 ? 0 : std::max(end.end_ns, range->start_ns);
      whole.push_back(*range);
      const std::uint64_t number = end.range >> kRangeThreadShift;
      if (!std::exchange(threads_[number].has_ended, true)) changed.push_back(number);
    }
  }
  for (const std::uint64_t number : changed) {
    Open& open = threads_[number];
    std::erase_if(open.ranges, [](const RangeEvent& range) { return range.end_ns != kStillOpen; });
    open.has_ended = false;
    if (open.ranges.empty()) threads_.erase(number);
  }
}

RangeEvent* RangeJoiner::find(std::uint64_t id) {
  const auto thread = threads_.find(id >> kRangeThreadShift);
  if (thread == threads_.end()) return nullptr;
  auto& ranges = thread->second.ranges;
  const auto found = std::ranges::lower_bound(ranges, id, {}, &RangeEvent::id);
  return found != ranges.end() && found->id == id ? &*found : nullptr;
}

void RangeJoiner::take_open(std::vector<RangeEvent>& whole) {
  for (auto& [number, open] : std::exchange(threads_, {})) {
    for (RangeEvent& range : open.ranges) {
      range.end_ns = 0;
      whole.push_back(range);
    }
  }
}

}  // namespace dlkprof::inject
