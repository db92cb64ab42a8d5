// Which ranges are open on one thread: a list in the order in which they began, from which any may be taken out at once. What
// they are is in the log already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dlkprof::inject {

class OpenRanges {
 public:
  static constexpr int kNone = -1;
  struct Pushed {
    int level = kNone;  // in its domain
    bool& recorded;     // false: its end is not to be told. Until the next range is opened
  };
  // Opens a range as the innermost one. Throws std::bad_alloc, and is then as it was.
  Pushed push(std::uint64_t id, std::uint32_t domain);
  bool& start(std::uint64_t id);
  // Counts a push that is not to be kept, so that its pop is known.
  int push_beyond(std::uint32_t domain);

  struct Range {
    std::uint64_t id = 0;
    bool recorded = false;
  };
  struct Popped {
    int level = kNone;
    Range range;  // not recorded: or it was one of push_beyond(), or there was none
  };
  [[nodiscard]] Popped pop(std::uint32_t domain) noexcept;
  // Not recorded: or no start/end range of that id is open.
  [[nodiscard]] Range end(std::uint64_t id) noexcept;

  // The innermost; 0 where none is open.
  [[nodiscard]] std::uint64_t innermost() const noexcept { return top_ == kNowhere ? 0 : slots_[top_].id; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Whether pushes of that domain are being counted only: what lies inside cannot be kept.
  [[nodiscard]] bool is_beyond(std::uint32_t domain) noexcept {
    const Lane* lane = find_lane(domain);
    return lane != nullptr && lane->beyond > 0;
  }

  // Takes out all, or all push/pop ranges, innermost first.
  template <typename Take>
  void take_all(bool start_end_too, Take&& take) {
    for (Index at = top_; at != kNowhere;) {
      const Index below = slots_[at].below;
      if (start_end_too || !slots_[at].started) take(take_out(at));
      at = below;
    }
    default_lane_ = {};
    lanes_.clear();
    if (start_end_too) started_.clear();
  }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNowhere = ~Index{0};

  struct Slot {
    std::uint64_t id = 0;
    Index below = kNowhere, above = kNowhere;  // neighbours in the list
    Index outer = kNowhere;                    // the next push/pop range of the domain; of a free slot: the next free one
    bool recorded = false, started = false;
  };
  // A domain with push/pop ranges open, or one of the first ones: few at a time.
  struct Lane {
    std::uint32_t domain = 0;
    int kept = 0, beyond = 0;
    Index innermost = kNowhere;
  };

  Slot& put_in(std::uint64_t id);
  Range take_out(Index at) noexcept;
  void make_slot();
  [[nodiscard]] Lane* find_lane(std::uint32_t domain) noexcept { return domain == 0 ? &default_lane_ : find_other_lane(domain); }
  [[nodiscard]] Lane* find_other_lane(std::uint32_t domain) noexcept;
  Lane& lane_of(std::uint32_t domain) { return domain == 0 ? default_lane_ : other_lane_of(domain); }
  Lane& other_lane_of(std::uint32_t domain);
  void drop_if_empty(Lane& lane) noexcept;

  // What a push needs lies side by side, as do the slots of ranges that nest.
  std::uint32_t size_ = 0;
  Index top_ = kNowhere, free_ = kNowhere;
  Lane default_lane_;
  std::vector<Slot> slots_;
  std::vector<Lane> lanes_;                           // of the other domains
  std::unordered_map<std::uint64_t, Index> started_;  // start/end ranges by id
};

// Inline, as all that is called at a push is in no cache then.

inline OpenRanges::Pushed OpenRanges::push(std::uint64_t id, std::uint32_t domain) {
  if (free_ == kNowhere) [[unlikely]]
    make_slot();
  Lane& lane = lane_of(domain);
  const Index outer = lane.innermost;
  lane.innermost = free_;
  Slot& slot = put_in(id);
  slot.outer = outer;
  return {lane.kept++, slot.recorded};
}

inline OpenRanges::Popped OpenRanges::pop(std::uint32_t domain) noexcept {
  Lane* lane = find_lane(domain);
  if (lane == nullptr || (lane->kept == 0 && lane->beyond == 0)) return {};
  Popped popped;
  if (lane->beyond > 0) [[unlikely]] {
    popped.level = lane->kept + --lane->beyond;
  } else {
    const Index at = lane->innermost;
    lane->innermost = slots_[at].outer;
    popped.level = --lane->kept;
    popped.range = take_out(at);
  }
  if (domain != 0) drop_if_empty(*lane);
  return popped;
}

// There is a free slot.
inline OpenRanges::Slot& OpenRanges::put_in(std::uint64_t id) {
  const Index at = free_;
  Slot& slot = slots_[at];
  free_ = slot.outer;
  slot = {.id = id, .below = top_};
  if (top_ != kNowhere) slots_[top_].above = at;
  top_ = at;
  ++size_;
  return slot;
}

inline OpenRanges::Range OpenRanges::take_out(Index at) noexcept {
  Slot& slot = slots_[at];
  if (slot.below != kNowhere) slots_[slot.below].above = slot.above;
  (slot.above != kNowhere ? slots_[slot.above].below : top_) = slot.below;
  slot.outer = free_;
  free_ = at;
  --size_;
  return {slot.id, slot.recorded};
}

}  // namespace dlkprof::inject
