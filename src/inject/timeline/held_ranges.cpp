#include "inject/timeline/held_ranges.h"

#include <algorithm>

namespace dlkprof::inject {

[[gnu::cold, gnu::noinline]] void HeldRanges::add(const capture::RangeEvent& range, std::string_view message,
                                                  EventLog& log) noexcept {
  try {
    Held& held = ranges_[range.id];
    held.range = range;
    if (bytes_ + message.size() > kMostBytes) {
      log.read_message(held.range, message);
    } else {
      held.message = message;
      bytes_ += message.size();
    }
  } catch (...) {
    ranges_.erase(range.id);
    log.count_dropped();
  }
}

[[gnu::cold, gnu::noinline]] void HeldRanges::end(std::uint64_t id, std::int64_t now, EventLog& log) noexcept {
  const auto found = ranges_.find(id);
  if (found == ranges_.end()) return;
  auto& [range, message] = found->second;
  range.end_ns = now == 0 ? 0 : std::max(now, range.start_ns);
  bytes_ -= message.size();
  if (message.size() > kLongestUnread) {
    log.read_message(range, message);
    message.clear();
  }
  log.add(range, message);
  ranges_.erase(found);
}

}  // namespace dlkprof::inject
