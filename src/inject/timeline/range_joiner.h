// Ranges and their ends, which the program's threads add apart: so that at a push its message is copied once, to where it
// stays, and a pop is a few bytes. Whichever comes first waits for the other.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "dlkprof/capture_format.h"
#include "inject/timeline/event_queue.h"

namespace dlkprof::inject {

// RangeEvent::id: above it the number of the thread.
inline constexpr unsigned kRangeThreadShift = 40;

class RangeJoiner {
 public:
  // Ranges that are whole go to the end of `whole`; the others of each thread come in the order in which they began. Throws
  // std::bad_alloc, and is of no use then.
  void add(std::span<const capture::RangeEvent> ranges, std::vector<capture::RangeEvent>& whole);
  void add(std::span<const RangeEnd> ends, std::vector<capture::RangeEvent>& whole);
  // What is open still, as ranges that never ended: of some the end was left out, as there was no room.
  void take_open(std::vector<capture::RangeEvent>& whole);

 private:
  struct Open {
    std::vector<capture::RangeEvent> ranges;  // kStillOpen, and some that are not any more, until these are dropped
    bool has_ended = false;
  };
  [[nodiscard]] capture::RangeEvent* find(std::uint64_t id);  // null: it has not come, or is dropped

  std::unordered_map<std::uint64_t, Open> threads_;  // by number
  std::vector<RangeEnd> early_;                      // whose range has not come yet
};

}  // namespace dlkprof::inject
