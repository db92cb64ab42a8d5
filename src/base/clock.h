#pragma once

#include <chrono>
#include <cstdint>

namespace dlkprof {

// Nanoseconds since 1970, by the machine's wall clock: for showing, and for joining what several machines recorded.
inline std::int64_t unix_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace dlkprof
