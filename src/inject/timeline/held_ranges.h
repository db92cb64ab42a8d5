// The open ranges of a thread that the log had no room for when they began, as it may not have before the first launch: each is
// added whole when it ends, as by then there may be room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dlkprof/capture_format.h"
#include "inject/timeline/event_log.h"

namespace dlkprof::inject {

class HeldRanges {
 public:
  // `message`: of a range that is kUnreadName. Without memory the range is counted as left out.
  void add(const capture::RangeEvent& range, std::string_view message, EventLog& log) noexcept;
  // Nothing where it is none of these. `now`: 0 of a range that never ended.
  void end(std::uint64_t id, std::int64_t now, EventLog& log) noexcept;

 private:
  struct Held {
    capture::RangeEvent range;
    std::string message;  // empty where it is read already
  };
  // Beyond, messages are read at once, and so kept by the log even where their ranges are left out.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

  std::map<std::uint64_t, Held> ranges_;  // by number
  std::size_t bytes_ = 0;                 // of messages
};

}  // namespace dlkprof::inject
