#include "inject/open_ranges.h"

#include <utility>

namespace dlkprof::inject {
namespace {

// So many domains need not be made anew with each outermost range.
constexpr std::size_t kLanesKept = 8;

}  // namespace

bool& OpenRanges::start(std::uint64_t id) {
  if (free_ == kNowhere) make_slot();
  started_.emplace(id, free_);
  Slot& slot = put_in(id);
  slot.started = true;
  return slot.recorded;
}

int OpenRanges::push_beyond(std::uint32_t domain) {
  Lane& lane = lane_of(domain);
  return lane.kept + lane.beyond++;
}

OpenRanges::Range OpenRanges::end(std::uint64_t id) noexcept {
  const auto found = started_.find(id);
  if (found == started_.end()) return {};
  const Range range = take_out(found->second);
  started_.erase(found);
  return range;
}

[[gnu::cold]] void OpenRanges::make_slot() {
  slots_.emplace_back();
  free_ = static_cast<Index>(slots_.size() - 1);
}

OpenRanges::Lane* OpenRanges::find_other_lane(std::uint32_t domain) noexcept {
  for (Lane& lane : lanes_) {
    if (lane.domain == domain) return &lane;
  }
  return nullptr;
}

OpenRanges::Lane& OpenRanges::other_lane_of(std::uint32_t domain) {
  if (Lane* known = find_other_lane(domain)) return *known;
  return lanes_.emplace_back(Lane{.domain = domain});
}

void OpenRanges::drop_if_empty(Lane& lane) noexcept {
  if (lane.kept > 0 || lane.beyond > 0 || lanes_.size() <= kLanesKept) return;
  std::swap(lane, lanes_.back());
  lanes_.pop_back();
}

}  // namespace dlkprof::inject
