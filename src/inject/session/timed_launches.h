// Launches that the program times to choose kernels by their times. One that is measured takes longer, and what is chosen would
// be another kernel than without dlkprof; most that are tried are not launched again, and their counters of use to nobody.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "inject/session/ledger.h"

namespace dlkprof::inject {

// By events: cuDNN (torch.backends.cudnn.benchmark) and Triton record one before and one after what they time. Who times the
// steps of a loop or one kernel again and again does so too, so each configuration is left alone a few times only, and as long
// as new ones come among what is timed: some kernels are part of most of cuDNN's algorithms.
class TimedLaunches {
 public:
  // cuEventCreate has given it: perhaps one that another event had before.
  void created(CUevent event, unsigned flags);
  // Whether times between it and others can be asked for.
  [[nodiscard]] bool is_timing(CUevent event) const;
  // Of a launch that comes soon after the record of such an event; counts it. By one thread at a time.
  [[nodiscard]] bool leaves_alone(Ledger::Entry entry);

  // An algorithm of cuDNN's launches up to six kernels: two that change the layout before and one after, one that clears memory,
  // the product, and one that adds up parts of it.
  static constexpr std::uint8_t kLaunchesAfterEvent = 8;

 private:
  // cuDNN times each algorithm three times, after it ran once.
  static constexpr std::uint32_t kMostTimes = 8;
  // Where the steps of a loop are timed and nothing new comes, all of them are measured from the ninth on.
  static constexpr std::uint32_t kMostSinceNew = (kMostTimes - 1) * kLaunchesAfterEvent;
  // However many new ones come. With a ResNet-50 cuDNN's algorithms had 481 configurations: 60 % of their launches were beyond
  // the first eight of each, 3 % beyond 128 (results/2026-11-28-gpus/runs.md).
  static constexpr std::uint32_t kMostTimesBesideNew = 128;

  mutable std::mutex mutex_;  // of the events
  std::unordered_set<CUevent> timing_;
  std::unordered_map<Ledger::Entry, std::uint32_t> times_;
  std::uint32_t since_new_ = 0;  // launches, since one of a new configuration
};

}  // namespace dlkprof::inject
