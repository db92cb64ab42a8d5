// What the session knows of a thread that is inside the driver. For the session's own files.
#pragma once

#include <cstdint>
#include <optional>
#include <shared_mutex>

#include "inject/counter_cache.h"
#include "inject/session.h"
#include "inject/timeline.h"

namespace dlkprof::inject {

struct Session::Thread {
  enum class Gate : std::uint8_t { none, shared, alone };
  Gate gate = Gate::none;
  bool ours = false;  // the calls made now are the session's own, not the program's
  std::optional<Measuring> measuring;
  bool in_window = false;       // of an iteration replay: the launch that is going on
  CUcontext sampled = nullptr;  // of the last launch for which PC sampling was begun, and the functions' epoch at that time
  std::uint64_t sampled_epoch = 0;
  CounterCache counters;
  OpenCall call;

  void enter_shared(std::shared_mutex& mutex) {
    mutex.lock_shared();
    gate = Gate::shared;
  }
  void enter_alone(std::shared_mutex& mutex) {
    leave(mutex);
    mutex.lock();
    gate = Gate::alone;
  }
  void leave(std::shared_mutex& mutex) {
    if (gate == Gate::shared) mutex.unlock_shared();
    if (gate == Gate::alone) mutex.unlock();
    gate = Gate::none;
  }
};

}  // namespace dlkprof::inject
