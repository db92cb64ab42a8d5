// The open ranges of one thread and their messages: a list in the order in which they began, from which any may be taken out
// at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

class OpenRanges {
 public:
  // Opens `range` as the innermost one. Push/pop ranges: the level in their domain. Throws std::bad_alloc, and is then as
  // it was. There is room for the message, if any.
  int push(const capture::RangeEvent& range, std::string_view message);
  void start(const capture::RangeEvent& range, std::string_view message);
  [[nodiscard]] bool has_room_for(std::string_view message) const noexcept { return message.size() <= kTextBytes - text_end(); }
  // Counts a push that is not to be kept, so that its pop is known.
  int push_beyond(std::uint32_t domain);

  struct Open {
    capture::RangeEvent event;
    std::uint32_t text_begin = 0, text_end = 0;
  };
  struct Popped {
    int level = kNone;
    Open* range = nullptr;  // null: it was one of push_beyond(), or there was none
  };
  static constexpr int kNone = -1;
  // Ranges that are taken out can be read until the next is opened.
  [[nodiscard]] Popped pop(std::uint32_t domain) noexcept;
  // Null where no start/end range of that id is open.
  [[nodiscard]] Open* end(std::uint64_t id) noexcept;
  [[nodiscard]] std::string_view message_of(const Open& range) const noexcept {
    return {texts_.get() + range.text_begin, range.text_end - range.text_begin};
  }

  // The innermost; 0 where none is open.
  [[nodiscard]] std::uint64_t innermost() const noexcept { return top_ == kNowhere ? 0 : slots_[top_].range.event.id; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // Whether pushes of that domain are being counted only: what lies inside cannot be kept.
  [[nodiscard]] bool is_beyond(std::uint32_t domain) const noexcept;

  // Takes out all, or all push/pop ranges, innermost first.
  template <typename Take>
  void take_all(bool start_end_too, Take&& take) {
    for (Index at = top_; at != kNowhere;) {
      const Index below = slots_[at].below;
      if (start_end_too || slots_[at].range.event.kind == capture::RangeKind::push_pop) take(take_out(at));
      at = below;
    }
    lanes_.clear();
    if (start_end_too) started_.clear();
  }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNowhere = ~Index{0};

  struct alignas(64) Slot {  // a line of the caches
    Open range;
    Index below = kNowhere, above = kNowhere;  // neighbours in the list
    Index outer = kNowhere;                    // the next push/pop range of the domain; of a free slot: the next free one
  };
  // A domain with push/pop ranges open, or one of the first ones: few at a time.
  struct Lane {
    std::uint32_t domain = 0;
    int kept = 0, beyond = 0;
    Index innermost = kNowhere;
  };

  // Messages lie one behind another as on a stack, that of the innermost range last: a place that one taken out from amid
  // them leaves is used again when those above are gone too. More are read at once.
  static constexpr std::uint32_t kTextBytes = std::uint32_t{1} << 16U;
  [[nodiscard]] std::uint32_t text_end() const noexcept { return top_ == kNowhere ? 0 : slots_[top_].range.text_end; }

  Index put_in(const capture::RangeEvent& range, std::string_view message);
  Open& take_out(Index at) noexcept;
  [[nodiscard]] Lane* find_lane(std::uint32_t domain) noexcept;
  Lane& lane_of(std::uint32_t domain);
  void drop_if_empty(Lane& lane) noexcept;

  std::unique_ptr<char[]> texts_{new char[kTextBytes]};
  std::vector<Slot> slots_;
  Index top_ = kNowhere, free_ = kNowhere;
  std::size_t size_ = 0;
  std::vector<Lane> lanes_;
  std::unordered_map<std::uint64_t, Index> started_;  // start/end ranges by id
};

}  // namespace dlkprof::inject
