// Which ranges are open on one thread, in the order in which they began: a stack, but that any may be taken out. What they are
// is in the log already, or held back where it had no room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlkprof::inject {

class OpenRanges {
 public:
  static constexpr int kNone = -1;
  struct Pushed {
    int level = kNone;  // in its domain
    bool& recorded;     // false: the log had no room for it. Until the next range is opened
  };
  // Opens a range as the innermost one; its number is above those of the others. Throws std::bad_alloc, and is then as it was.
  Pushed push(std::uint64_t id, std::uint32_t domain);
  bool& start(std::uint64_t id) { return put(id, kStarted).recorded; }
  // Counts a push that is not to be kept, so that its pop is known.
  int push_beyond(std::uint32_t domain);

  struct Range {
    std::uint64_t id = 0;
    std::uint32_t kind = 0;
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
  [[nodiscard]] std::uint64_t innermost() const noexcept { return end_ == 0 ? 0 : places_[end_ - 1].id; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - gone_; }
  // Whether pushes of that domain are being counted only: what lies inside cannot be kept.
  [[nodiscard]] bool is_beyond(std::uint32_t domain) noexcept {
    const Depth* depth = find_depth(domain);
    return depth != nullptr && depth->beyond > 0;
  }

  // The commonest, with as little code as may be: a range that is recorded, in the default domain, where nothing is out of the
  // ordinary.
  [[nodiscard]] bool takes_quickly() const noexcept { return end_ < quick_places_ && default_depth_.beyond == 0; }
  int push_quickly(std::uint64_t id) noexcept {
    places_[end_++] = {.id = id, .recorded = true};
    return default_depth_.kept++;
  }
  // The innermost, where it is such a one and to be popped; else null.
  [[nodiscard]] const Range* quick_one() const noexcept {
    if (end_ == 0 || default_depth_.beyond != 0) return nullptr;
    const Range& last = places_[end_ - 1];
    return last.kind == 0 && last.recorded && (end_ == 1 || places_[end_ - 2].kind != kGone) ? &last : nullptr;
  }
  int pop_quick_one() noexcept {
    --end_;
    return --default_depth_.kept;
  }

  // Takes out all, or all push/pop ranges, innermost first.
  template <typename Take>
  void take_all(bool start_end_too, Take&& take) {
    for (std::size_t at = end_; at-- > 0;) {
      if (places_[at].kind == kGone || (places_[at].kind == kStarted && !start_end_too)) continue;
      take(places_[at]);
      places_[at].kind = kGone;
      ++gone_;
    }
    drop_gone();
    default_depth_ = {};
    depths_.clear();
  }

 private:
  // Range::kind: its domain, or one of these, which are no strings' numbers.
  static constexpr std::uint32_t kStarted = ~std::uint32_t{0}, kGone = ~std::uint32_t{0} - 1;

  // Of a domain's push/pop ranges.
  struct Depth {
    int kept = 0, beyond = 0;
  };
  // A domain with push/pop ranges open, or one of the first ones: few at a time.
  struct DomainDepth : Depth {
    std::uint32_t domain = 0;
  };

  Range& put(std::uint64_t id, std::uint32_t kind);
  void make_room();
  void drop_gone() noexcept;
  [[nodiscard]] Range take_from_below(std::uint32_t domain) noexcept;
  void take_out(std::size_t at) noexcept;
  [[nodiscard]] Depth* find_depth(std::uint32_t domain) noexcept {
    return domain == 0 ? &default_depth_ : find_other_depth(domain);
  }
  [[nodiscard]] DomainDepth* find_other_depth(std::uint32_t domain) noexcept;
  Depth& depth_of(std::uint32_t domain) { return domain == 0 ? default_depth_ : other_depth_of(domain); }
  Depth& other_depth_of(std::uint32_t domain);

  // What a push needs lies side by side. The last range is never one that is gone.
  std::uint32_t end_ = 0, gone_ = 0;
  Depth default_depth_;
  std::uint32_t quick_places_ = 0;  // takes_quickly() below that: there are as many
  std::vector<Range> places_;       // up to end_ used
  std::vector<DomainDepth> depths_;
};

// Inline, as all that is called at a push is in no cache then.

inline OpenRanges::Range& OpenRanges::put(std::uint64_t id, std::uint32_t kind) {
  if (end_ == places_.size()) make_room();
  Range& range = places_[end_++];
  range.id = id;
  range.kind = kind;
  return range;
}

inline OpenRanges::Pushed OpenRanges::push(std::uint64_t id, std::uint32_t domain) {
  Depth& depth = depth_of(domain);
  Range& range = put(id, domain);
  return {depth.kept++, range.recorded};
}

inline OpenRanges::Popped OpenRanges::pop(std::uint32_t domain) noexcept {
  Depth* const depth = find_depth(domain);
  if (depth == nullptr) return {};
  if (depth->beyond > 0) return {.level = depth->kept + --depth->beyond};
  if (depth->kept == 0) return {};
  const Range& last = places_[end_ - 1];
  // Field by field: as a whole it could only be read once all that the push wrote has reached the caches.
  Popped popped{.level = --depth->kept, .range = {.id = last.id, .recorded = last.recorded}};
  if (last.kind != domain) [[unlikely]] {
    popped.range = take_from_below(domain);
  } else if (--end_ != 0 && places_[end_ - 1].kind == kGone) [[unlikely]] {
    drop_gone();
  }
  return popped;
}

}  // namespace dlkprof::inject
