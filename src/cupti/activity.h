// Activity records: when the GPU ran each kernel, copied and set memory. Costs some 6 % on a launch-bound program, so it
// can be switched off again at any time.
#pragma once

#include <cstdint>
#include <functional>

#include "cupti/library.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::cupti {

// What a GPU did; `kernel` is the mangled name, null for copies and sets. The event lacks only the number of its name.
// One graph launch gives many, all with that call's correlation. Times are event_clock_ns()'s.
using OnWork = std::function<void(const capture::ActivityEvent& event, const char* kernel)>;

// At most one a process, as CUPTI keeps one pair of buffer callbacks. `on_activity` is called on CUPTI's own thread or in
// flush(), never two at a time; it must not throw.
class Activity {
 public:
  enum class Scope : std::uint8_t { kernels, kernels_and_memory };
  // Throws Error.
  static void enable(const Library& library, Scope scope, OnWork on_activity);
  static void disable();
  // Hands over what has completed; with `forced` also partly filled buffers.
  static void flush(bool forced);
  // CUPTI has been left (cuptiFinalize), and knows nothing any more of what it was told.
  static void forget() noexcept;
};

// No records are taken while any of these lives, as is due while counters are collected. CUPTI takes the times of kernels by
// means of instructions that it adds to each, which count in a replay of our own and in windows (4 to 16 a warp on GH100). And
// records of work that is being profiled are never completed: they hold up all later ones, which pile up until the end (some 300
// bytes a launch; H200, CUDA 13.0). Made and destroyed where no other thread enables or disables activity, and the GPU has
// nothing to do.
class ActivityPause {
 public:
  ActivityPause();
  ActivityPause(const ActivityPause&) = delete;
  ActivityPause& operator=(const ActivityPause&) = delete;
  ~ActivityPause();
};

}  // namespace dlkprof::cupti
