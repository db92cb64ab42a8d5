// When the steps of the program's loop began, once the profiler has let go of it: the one thing that is still noted then, of the
// few NVTX messages that mark steps (capture/step_marker.h). Thread-safe; never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dlkprof/capture_format.h"
#include "inject/spin_lock.h"

namespace dlkprof::inject {

class StepClock {
 public:
  // A range of that message begins. Whether it is noted, or would be were there not enough of them.
  bool tick(std::string_view message) noexcept;
  [[nodiscard]] std::vector<capture::StepTimes> steps() const;

  static constexpr std::size_t kMostMarkers = 8;
  static constexpr std::size_t kMostSteps = 4096;  // of each

 private:
  mutable SpinLock mutex_;
  std::vector<capture::StepTimes> steps_;
};

}  // namespace dlkprof::inject
