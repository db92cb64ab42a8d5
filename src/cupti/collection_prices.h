// What collecting costs, for choosing the sizes of windows and for saying beforehand what a plan will take (--dry-run). All
// figures were measured on an H200 with CUDA 13.0; other GPUs and drivers differ.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dlkprof::cupti {

// Kernel replay: a pass of a launch, with memory saved and restored.
inline constexpr double kReplayPassSeconds = 21e-3;

// Windows of the range profiler, in which the program's own launches are measured.
struct WindowPrices {
  double launch_seconds;               // a launch in one pass, its kernel and reading it out included
  double open_seconds, close_seconds;  // a window in one pass
  double first_open_seconds;           // once, for each launch that a window may hold
  std::size_t host_bytes;              // likewise
  std::size_t set_up_bytes;            // host memory besides, rounded up
};
// Where counters of each multiprocessor are read out; where only performance monitors are (seen with quick).
inline constexpr WindowPrices kPerSmPrices{0.97e-3, 4.1e-3, 6e-3, 1.4e-3, 2'200'000, 176'000'000};
inline constexpr WindowPrices kHwpmPrices{75e-6, 26e-3, 7e-3, 1.4e-3, 1'400'000, 165'000'000};
inline constexpr std::size_t kFewestLaunches = 8;  // of a window: with fewer, opening and closing is all that it does

// How many launches a window may hold where measuring is to add no more than `most_bytes` to the program's host memory.
constexpr std::size_t most_launches(const WindowPrices& prices, std::size_t most_bytes) {
  const std::size_t left = most_bytes - std::min(most_bytes, prices.set_up_bytes);
  return std::max(kFewestLaunches, left / prices.host_bytes);
}

}  // namespace dlkprof::cupti
