// CUDA graphs of the program, as far as they forbid things: while a stream is being captured no call may synchronize, and CUPTI
// stays loaded once there was a graph, which was made with CUPTI's help; and those whose launches can be taken apart.
// Thread-safe.
#pragma once

#include <atomic>

#include "cupti/driver.h"
#include "inject/graphs/graph_launches.h"
#include "inject/session/launch_call.h"

namespace dlkprof::inject {

class GraphWatch {
 public:
  explicit GraphWatch(const cupti::Driver& driver) : driver_(driver), launches_(driver) {}

  void capture_begins() noexcept { ++capturing_; }
  void capture_ends() noexcept {
    if (capturing_ > 0) --capturing_;
  }
  void saw_graph() noexcept { seen_ = true; }
  [[nodiscard]] GraphLaunches& launches() noexcept { return launches_; }

  [[nodiscard]] bool seen() const noexcept { return seen_; }
  [[nodiscard]] bool capturing() const noexcept { return capturing_ > 0; }
  // The stream is being captured: until the call that ends that, also where capturing has failed meanwhile.
  [[nodiscard]] bool records(CUstream stream) const {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
  }
  // The launch's stream is being captured; or any is: calls that synchronize would spoil that, also from other threads.
  [[nodiscard]] bool is_captured(const LaunchCall& call) const { return is_captured(call.stream); }
  [[nodiscard]] bool is_captured(CUstream stream) const {
    if (capturing()) return true;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

 private:
  const cupti::Driver& driver_;
  GraphLaunches launches_;
  std::atomic<int> capturing_{0};
  std::atomic<bool> seen_{false};
};

}  // namespace dlkprof::inject
