// What the session knows of a thread of the program that is inside the driver, and whose calls it is making.
#pragma once

#include <cuda.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "inject/own_pointer.h"
#include "inject/session/counter_cache.h"
#include "inject/session/gate.h"
#include "inject/timeline/graph_log.h"
#include "inject/timeline/timeline.h"

namespace dlkprof::inject {

// Contexts, in an epoch of the functions' (FunctionTable::epoch): a later one may come to lie where one of another epoch did.
// Of many the last ones.
class SeenContexts {
 public:
  [[nodiscard]] bool contains(CUcontext context, std::uint64_t epoch) const noexcept {
    return epoch == epoch_ && std::find(contexts_.begin(), contexts_.end(), context) != contexts_.end();
  }
  void add(CUcontext context, std::uint64_t epoch) noexcept {
    if (std::exchange(epoch_, epoch) != epoch) contexts_ = {};
    contexts_[next_++ % contexts_.size()] = context;
  }

 private:
  std::array<CUcontext, 8> contexts_{};  // a GPU each
  std::size_t next_ = 0;
  std::uint64_t epoch_ = 0;
};

// The launches that are made in place of one graph launch.
struct NodeLaunches {
  std::uint32_t graph_launch = 0;      // its correlation
  std::uint64_t node = 0;              // that is launched now, as CUPTI numbers it
  std::vector<std::size_t> kernels{};  // the ledger's entries
  std::size_t measured = 0;
  bool failed = false;  // one was refused
};

struct alignas(64) ThreadState {
  // Where a thread finds its own without a call: what most launches need of it lies in its first line.
  static OwnPointer<ThreadState> own;
  static constinit thread_local bool gone;  // this thread's is destroyed, as the thread is ending
  ThreadState() { own.put(nullptr, this); }
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;
  ~ThreadState() {
    own.remove();
    gone = true;
  }

  enum class Hold : std::uint8_t { none, shared, alone };
  Hold hold = Hold::none;   // of the session's gate
  bool ours = false;        // the calls made now are the profiler's own (OwnCalls)
  bool collecting = false;  // the collector is to be told of the exit of this launch
  std::uint32_t system_id = static_cast<std::uint32_t>(gettid());
  OpenCall call;
  SeenContexts sampled;  // for whose launches PC sampling need not be begun any more
  CounterCache counters;
  std::uint64_t capture_range = kNotCapturing;  // the innermost open where it began to capture a stream
  bool ends_capture = false;                    // the call that it is in is to end one, of a stream that is being captured
  NodeLaunches* nodes = nullptr;                // of the graph that is being launched node by node
  std::uint8_t launches_timed = 0;              // that are still to come, as an event was recorded (TimedLaunches)
  CUgraphExec turn_graph_to = nullptr;          // what the next graph launch of ours is turned to

  // Inside of a graph that is launched node by node the gate is held alone for all of them.
  void enter_shared(Gate& gate) {
    if (nodes != nullptr) return;
    gate.lock_shared();
    hold = Hold::shared;
  }
  // False where the gate could not be held alone in time: it is then not held.
  [[nodiscard]] bool enter_alone(Gate& gate, std::chrono::steady_clock::duration longest) {
    if (hold == Hold::alone) return true;
    leave(gate);
    auto lock = gate.alone_within(longest);
    if (!lock) return false;
    (void)lock.release();
    hold = Hold::alone;
    return true;
  }
  void leave(Gate& gate) {
    if (nodes != nullptr) return;
    if (hold == Hold::shared) gate.unlock_shared();
    if (hold == Hold::alone) gate.unlock();
    hold = Hold::none;
  }
};

[[nodiscard]] ThreadState& this_thread() noexcept;

// While it lives, the CUDA calls that this thread makes are the profiler's own: callbacks ignore them.
class OwnCalls {
 public:
  explicit OwnCalls(ThreadState& thread = this_thread()) noexcept : thread_(thread), before_(std::exchange(thread.ours, true)) {}
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;
  ~OwnCalls() { thread_.ours = before_; }

 private:
  ThreadState& thread_;
  const bool before_;
};

}  // namespace dlkprof::inject
