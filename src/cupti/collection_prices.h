// What collecting costs, for choosing the sizes of windows and for saying beforehand what a plan will take (--dry-run). All
// figures were measured on an H200 or, where said, an H100, with CUDA 13.0; other GPUs and drivers differ.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dlkprof::cupti {

// Kernel replay: a pass of a launch, with memory saved and restored.
inline constexpr double kReplayPassSeconds = 21e-3;

// CUPTI's kernel replay keeps the memory that it saves on the device as far as that has room, and the rest in host memory, where
// it travels at some 27 GB/s once to be saved and once before each pass: a launch of 15 passes took 0.2 s beside 64 GB of
// allocations, 5.4 s beside 80 GB and 36 s beside 105 GB of an H200's 150 GB.
inline constexpr double kHostBytesPerSecond = 27e9;
// A launch may take so long to replay; longer ones are not begun.
inline constexpr double kReplayBudgetSeconds = 10;

// How long saving and restoring memory adds to the replay of a launch.
constexpr double replay_memory_seconds(std::uint64_t used_bytes, std::uint64_t free_bytes, std::size_t passes) {
  if (passes < 2 || used_bytes <= free_bytes) return 0;  // CUPTI saves nothing for a single pass
  return static_cast<double>(used_bytes - free_bytes) * static_cast<double>(passes + 1) / kHostBytesPerSecond;
}

// Windows, in which launches of the program's own are measured (profiling_session.h).
struct WindowPrices {
  double launch_seconds;               // a launch in one pass, its kernel and reading it out included
  double close_launch_seconds;         // closing a window, for each launch in it
  double open_seconds, close_seconds;  // a window in one pass besides, the mean of those of basic
  double session_seconds;              // once
  double session_launch_seconds;       // once, for each launch that a window may hold
  std::size_t host_bytes;              // likewise, with CUPTI's own
  std::size_t set_up_bytes;            // host memory besides, rounded up
};
// Where counters of each multiprocessor are read out; likewise, with a value for each of them in images (counter_images.h); where
// only performance monitors are read (seen with quick). Of the first what differs from the second, and the memory of both, are
// those of an H100 (results/2026-11-26-h100/sums.md; results/2026-11-25-h100/coverage.md).
inline constexpr WindowPrices kPerSmPrices{0.96e-3, 0.03e-3, 10e-3, 3e-3, 60e-3, 0.8e-3, 1'500'000, 230'000'000};
inline constexpr WindowPrices kPerInstancePrices{0.96e-3, 0.16e-3, 8e-3, 1.3e-3, 60e-3, 0.8e-3, 3'050'000, 248'000'000};
inline constexpr WindowPrices kHwpmPrices{46e-6, 0.08e-3, 26e-3, 1.6e-3, 0.18, 0.6e-3, 1'500'000, 130'000'000};
inline constexpr std::size_t kFewestLaunches = 8;  // of a window: with fewer, opening and closing is all that it does
inline constexpr std::size_t kMostLaunches = 128;  // a larger one saves little, and its counters come late

// How many launches a window may hold where measuring is to add no more than `most_bytes` to the program's host memory.
constexpr std::size_t most_launches(const WindowPrices& prices, std::size_t most_bytes) {
  const std::size_t left = most_bytes - std::min(most_bytes, prices.set_up_bytes);
  return std::clamp(left / prices.host_bytes, kFewestLaunches, kMostLaunches);
}

}  // namespace dlkprof::cupti
