// How much of a run was measured: of how many launches, and of how much GPU time.
#pragma once

#include <cstdint>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Launch configurations count as measured where one of their launches was, or samples lay within them.
struct Coverage {
  std::uint64_t launches = 0, matched = 0, measured = 0, skipped = 0, near_missed = 0;
  std::uint64_t graph_launches = 0;
  std::uint64_t covered = 0;  // launches of configurations that were measured

  // All GPU time: what shares of GPU time are of. It is the sum of the four below.
  std::uint64_t gpu_ns = 0;
  std::uint64_t timed_gpu_ns = 0;                              // kernels that ran by themselves, outside of graphs
  std::uint64_t measured_gpu_ns = 0;                           // launches while they were measured
  std::uint64_t graph_gpu_ns = 0;                              // kernels inside CUDA graphs
  std::uint64_t copy_gpu_ns = 0;                               // copies and sets
  std::uint64_t covered_gpu_ns = 0;                            // of gpu_ns: in configurations that were measured
  std::uint64_t unmatched_gpu_ns = 0, near_missed_gpu_ns = 0;  // of timed_gpu_ns
  std::uint64_t timed = 0;                                     // launches behind timed_gpu_ns
  bool timing_complete = true;
};

// Of one process, or, where that is kNone, of all.
[[nodiscard]] Coverage coverage_of(const Timeline& timeline, std::uint32_t process = kNone);

}  // namespace dlkprof::model
