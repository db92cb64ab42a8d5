// Kernel activity records: when each kernel ran on the GPU. Costs some 6 % on a launch-bound program, so it can be
// switched off again at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "cupti/library.h"

namespace dlkprof::cupti {

struct KernelTime {
  std::uint32_t correlation = 0;        // of the launch call, as its callback has it
  bool in_graph = false;                // run by a graph launch: the correlation is that call's
  std::optional<std::uint64_t> gpu_ns;  // none where CUPTI took no time
};

// At most one a process, as CUPTI keeps one pair of buffer callbacks. `on_kernel` is called on CUPTI's own thread or
// in flush(), never two at a time; it must not throw.
class KernelActivity {
 public:
  // Throws Error.
  static void enable(const Library& library, std::function<void(const KernelTime&)> on_kernel);
  static void disable();
  // Hands over what has completed; with `forced` also partly filled buffers.
  static void flush(bool forced);
};

// No records are taken while this lives. CUPTI takes them by means of instructions that it adds to every kernel, which
// count in a replay of our own (8 to 16 a warp on GH100); its own kernel replay leaves them out.
class ActivityPause {
 public:
  ActivityPause();
  ActivityPause(const ActivityPause&) = delete;
  ActivityPause& operator=(const ActivityPause&) = delete;
  ~ActivityPause();

 private:
  bool paused_;
};

}  // namespace dlkprof::cupti
