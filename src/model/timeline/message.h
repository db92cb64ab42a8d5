// What a range was called by the program, its numbers put back (capture/message.h).
#pragma once

#include <string>

#include "capture/message.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

static_assert(kNone == capture::kNoNumber);

[[nodiscard]] inline std::string message_of(const Timeline& timeline, const Range& range) {
  return capture::join_message(timeline.strings[range.message], range.sequence, range.op_id);
}

}  // namespace dlkprof::model
