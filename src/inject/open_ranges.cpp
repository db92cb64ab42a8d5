#include "inject/open_ranges.h"

#include <algorithm>
#include <cstring>

namespace dlkprof::inject {
namespace {

// So many domains need not be made anew with each outermost range.
constexpr std::size_t kLanesKept = 8;

}  // namespace

int OpenRanges::push(const capture::RangeEvent& range, std::string_view message) {
  Lane& lane = lane_of(range.domain);
  Index at = kNowhere;
  try {
    at = put_in(range, message);
  } catch (...) {
    drop_if_empty(lane);
    throw;
  }
  slots_[at].outer = lane.innermost;
  lane.innermost = at;
  return lane.kept++;
}

void OpenRanges::start(const capture::RangeEvent& range, std::string_view message) {
  const auto entry = started_.emplace(range.id, kNowhere).first;
  try {
    entry->second = put_in(range, message);
  } catch (...) {
    started_.erase(entry);
    throw;
  }
}

int OpenRanges::push_beyond(std::uint32_t domain) {
  Lane& lane = lane_of(domain);
  return lane.kept + lane.beyond++;
}

OpenRanges::Popped OpenRanges::pop(std::uint32_t domain) noexcept {
  Lane* lane = find_lane(domain);
  if (lane == nullptr) return {};
  Popped popped;
  if (lane->kept == 0 && lane->beyond == 0) return {};
  if (lane->beyond > 0) {
    popped.level = lane->kept + --lane->beyond;
  } else {
    const Index at = lane->innermost;
    lane->innermost = slots_[at].outer;
    popped.level = --lane->kept;
    popped.range = &take_out(at);
  }
  drop_if_empty(*lane);
  return popped;
}

OpenRanges::Open* OpenRanges::end(std::uint64_t id) noexcept {
  const auto found = started_.find(id);
  if (found == started_.end()) return nullptr;
  auto& range = take_out(found->second);
  started_.erase(found);
  return &range;
}

bool OpenRanges::is_beyond(std::uint32_t domain) const noexcept {
  for (const Lane& lane : lanes_) {
    if (lane.domain == domain) return lane.beyond > 0;
  }
  return false;
}

OpenRanges::Index OpenRanges::put_in(const capture::RangeEvent& range, std::string_view message) {
  if (free_ == kNowhere) {
    slots_.emplace_back();
    free_ = static_cast<Index>(slots_.size() - 1);
  }
  const Index at = free_;
  Slot& slot = slots_[at];
  free_ = slot.outer;
  const std::uint32_t text_begin = text_end();
  slot.range = {range, text_begin, text_begin + static_cast<std::uint32_t>(message.size())};
  if (!message.empty()) std::memcpy(texts_.get() + text_begin, message.data(), message.size());
  slot.below = top_;
  slot.above = slot.outer = kNowhere;
  if (top_ != kNowhere) slots_[top_].above = at;
  top_ = at;
  ++size_;
  return at;
}

OpenRanges::Open& OpenRanges::take_out(Index at) noexcept {
  Slot& slot = slots_[at];
  if (slot.below != kNowhere) slots_[slot.below].above = slot.above;
  (slot.above != kNowhere ? slots_[slot.above].below : top_) = slot.below;
  slot.outer = free_;
  free_ = at;
  --size_;
  return slot.range;
}

OpenRanges::Lane* OpenRanges::find_lane(std::uint32_t domain) noexcept {
  for (Lane& lane : lanes_) {
    if (lane.domain == domain) return &lane;
  }
  return nullptr;
}

OpenRanges::Lane& OpenRanges::lane_of(std::uint32_t domain) {
  if (Lane* known = find_lane(domain)) return *known;
  return lanes_.emplace_back(Lane{.domain = domain});
}

void OpenRanges::drop_if_empty(Lane& lane) noexcept {
  if (lane.kept > 0 || lane.beyond > 0 || lanes_.size() <= kLanesKept) return;
  std::swap(lane, lanes_.back());
  lanes_.pop_back();
}

}  // namespace dlkprof::inject
