// Launches that the program times to choose kernels by their times. One that is measured takes longer, and what is chosen would
// be another kernel than without dlkprof; most that are tried are not launched again, and their counters of use to nobody.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace dlkprof::inject {

// By events: cuDNN (torch.backends.cudnn.benchmark) and Triton record one before and one after what they time. Who times the
// steps of a loop or one kernel again and again does so too, so the first launches of a configuration alone are left alone: a
// few, and more as long as new ones come among what is timed: some kernels are part of most of cuDNN's algorithms.
class TimedLaunches {
 public:
  // cuEventCreate has given it: perhaps one that another event had before.
  void created(CUevent event, unsigned flags);
  // Whether times between it and others can be asked for.
  [[nodiscard]] bool is_timing(CUevent event) const;
  // To be asked of each launch that comes soon after the record of such an event, by one thread at a time. `occurrence`: of its
  // configuration, from 0.
  [[nodiscard]] bool leaves_alone(std::uint32_t occurrence);

  // Triton's do_bench first estimates how long a function takes, from five calls between two events, before each of which it
  // clears the L2 cache: ten launches where the function makes one. How often it calls the function after that, it takes from
  // this.
  static constexpr std::uint8_t kLaunchesAfterEvent = 16;

 private:
  // An algorithm of cuDNN's is a few kernels: changes of layout before and after, one that clears memory, the product, and one
  // that adds up parts of it. It is timed three times, after it ran once.
  static constexpr std::uint32_t kMostTimes = 8;
  static constexpr std::uint32_t kMostLaunches = 8;
  // Where the steps of a loop are timed and nothing new comes, all of them are measured from the ninth on.
  static constexpr std::uint32_t kMostSinceNew = (kMostTimes - 1) * kMostLaunches;
  // However many new ones come. The first step of a ResNet-50, with cuDNN's trials, had 481 configurations: 60 % of its launches
  // were beyond the first eight of each, 3 % beyond 128 (results/2026-11-28-gpus/runs.md).
  static constexpr std::uint32_t kMostTimesBesideNew = 128;

  mutable std::mutex mutex_;  // of the events
  std::unordered_set<CUevent> timing_;
  std::uint32_t since_new_ = kMostSinceNew;  // launches, since the first of a configuration
};

}  // namespace dlkprof::inject
