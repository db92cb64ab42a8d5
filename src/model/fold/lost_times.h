// GPU times that a capture lacks because its process was killed, crashed or left through _exit: CUPTI gives them late, in
// buffers, and what was launched last then looks as if it had never run.
#pragma once

#include <cstdint>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

// When the first launch was called of which that is so; kAllTimed where there is none.
inline constexpr std::int64_t kAllTimed = INT64_MAX;
[[nodiscard]] std::int64_t times_lost_from_ns(const Timeline& timeline);

}  // namespace dlkprof::model
