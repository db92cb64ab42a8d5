// The clock of all events.
#pragma once

#include <cstdint>
#include <ctime>

namespace dlkprof::inject {

// clock_gettime, as the kernel gives it to the process and libc calls it: a look at the clock is in no cache when it comes to be
// taken, and libc's way there is as long as the rest of it.
using ClockFunction = int (*)(clockid_t, timespec*);
extern constinit ClockFunction g_clock;

// Now, CLOCK_MONOTONIC, ns.
[[nodiscard]] inline std::int64_t event_clock_ns() noexcept {
  timespec now{};
  g_clock(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace dlkprof::inject
