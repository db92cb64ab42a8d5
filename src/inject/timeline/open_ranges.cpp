#include "inject/timeline/open_ranges.h"

#include <algorithm>

namespace dlkprof::inject {
namespace {

// So many domains need not be made anew with each outermost range.
constexpr std::size_t kDepthsKept = 8;
constexpr std::size_t kFirstPlaces = 32;
// Below Ranges::kMostOpen, which is looked at by those alone that do not come quickly.
constexpr std::size_t kMostQuickPlaces = 1024;

}  // namespace

int OpenRanges::push_beyond(std::uint32_t domain) {
  Depth& depth = depth_of(domain);
  return depth.kept + depth.beyond++;
}

OpenRanges::Range OpenRanges::end(std::uint64_t id) noexcept {
  const auto last = places_.begin() + end_;
  const auto found =
      std::lower_bound(places_.begin(), last, id, [](const Range& range, std::uint64_t of) { return range.id < of; });
  if (found == last || found->id != id || found->kind != kStarted) return {};
  const Range range = *found;
  take_out(static_cast<std::size_t>(found - places_.begin()));
  return range;
}

// There is one.
[[gnu::cold]] OpenRanges::Range OpenRanges::take_from_below(std::uint32_t domain) noexcept {
  std::size_t at = end_ - 1;
  while (places_[at].kind != domain) --at;
  const Range range = places_[at];
  take_out(at);
  return range;
}

void OpenRanges::take_out(std::size_t at) noexcept {
  places_[at].kind = kGone;
  ++gone_;
  drop_gone();
}

[[gnu::cold]] void OpenRanges::drop_gone() noexcept {
  for (; end_ != 0 && places_[end_ - 1].kind == kGone; --end_) --gone_;
}

// Where half of them are gone the others move together instead.
[[gnu::cold]] void OpenRanges::make_room() {
  if (gone_ <= end_ / 2) {
    places_.resize(std::max(kFirstPlaces, places_.size() * 2));
    quick_places_ = static_cast<std::uint32_t>(std::min(places_.size(), kMostQuickPlaces));
    return;
  }
  const auto left =
      std::remove_if(places_.begin(), places_.begin() + end_, [](const Range& range) { return range.kind == kGone; });
  end_ = static_cast<std::uint32_t>(left - places_.begin());
  gone_ = 0;
}

OpenRanges::DomainDepth* OpenRanges::find_other_depth(std::uint32_t domain) noexcept {
  for (DomainDepth& depth : depths_) {
    if (depth.domain == domain) return &depth;
  }
  return nullptr;
}

OpenRanges::Depth& OpenRanges::other_depth_of(std::uint32_t domain) {
  if (DomainDepth* known = find_other_depth(domain)) return *known;
  if (depths_.size() >= kDepthsKept) std::erase_if(depths_, [](const DomainDepth& of) { return of.kept == 0 && of.beyond == 0; });
  return depths_.emplace_back(DomainDepth{{}, domain});
}

}  // namespace dlkprof::inject
