// CUPTI's presence in the process. What it has put into the driver makes each of its calls slower as long as it is there, though
// nobody listens: a step of cifar10.py took 1.07 to 1.18 times its own time (H200, CUDA 13.0). So it is detached when all is
// measured, and between bursts of samples (--replay-mode sample), and attached again for the next burst.
//
//   attached ─▶ due ─▶ detaching ─▶ detached ─▶ attached …        between bursts
//   attached ─▶ left                                              for good
//
// CUPTI may be detached in the exit of a call (cuptiFinalize in cupti_activity.h), but not while another thread is in a callback
// of ours or waits there for the gate, nor where there are graphs, which were made with CUPTI's help. A sampler that was made
// before goes on working without it (seen with CUDA 13.0 on an H200).
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "inject/graphs/graph_watch.h"
#include "inject/sampling/pm_sampling.h"
#include "inject/session/driver_calls.h"
#include "inject/session/recorder.h"
#include "inject/session/timing_windows.h"
#include "inject/timeline/timeline.h"

namespace dlkprof::inject {

class CuptiAttachment {
 public:
  struct Parts {
    const cupti::Library& library;
    const capture::ProfileOptions& options;
    const DriverCalls& calls;
    const GraphWatch& graphs;
    Recorder& recorder;
    TimingWindows& timing;
    Timeline& timeline;
  };
  explicit CuptiAttachment(const Parts& parts)
      : parts_(parts), counts_callbacks_(!parts.options.timeline || parts.options.in_bursts || parts.options.iterations > 0) {}

  // Subscribes, turns callbacks on and begins activity; throws Error.
  void attach(CUpti_CallbackFunc callback, void* self);
  // Turns callbacks and activity off.
  void quiet();
  // At the exit of a launch that is alone, after quiet(): takes CUPTI out of the process for good, where that is possible.
  void leave() noexcept;
  // Other threads are in callbacks, so that leave() would do nothing now.
  [[nodiscard]] bool others_inside() const noexcept { return in_callbacks_ > 1; }
  [[nodiscard]] bool has_left() const noexcept { return state_ == State::left; }
  // CUPTI may be called: outside, it would come to life again.
  [[nodiscard]] bool usable() const noexcept;

  // While it lives, the thread counts as being in a callback.
  class Callback {
   public:
    explicit Callback(CuptiAttachment& attachment) : count_(attachment.counts_callbacks_ ? &attachment.in_callbacks_ : nullptr) {
      if (count_ != nullptr) ++*count_;
    }
    Callback(const Callback&) = delete;
    Callback& operator=(const Callback&) = delete;
    ~Callback() {
      if (count_ != nullptr) --*count_;
    }

   private:
    std::atomic<int>* count_;
  };
  // Another thread is detaching CUPTI, and waits for those in callbacks.
  [[nodiscard]] bool detaching() const noexcept { return counts_callbacks_ && state_ == State::detaching; }

  // From the sampling thread, before a burst. Returns once the GPU does work whose launch was seen, or soon after that should
  // have been so: what was launched before stands in the GPU's queues, and its samples would be nobody's. Throws Error.
  void reattach(CUpti_CallbackFunc callback, void* self, const PmSampling::Pause& pause, const std::atomic<bool>& active);
  [[nodiscard]] bool attached() const noexcept { return state_ == State::attached; }
  // From the sampling thread, after a burst: has the program's next launch detach CUPTI. False where CUPTI stays, as nothing is
  // launched now, or must. Throws Error.
  [[nodiscard]] bool detach(const PmSampling::Pause& pause, const std::atomic<bool>& active);
  [[nodiscard]] bool detach_is_due() const noexcept { return state_.load(std::memory_order_relaxed) == State::due; }
  // At the exit of a launch, where a detach is due. Throws Error.
  void detach_now();
  // At the end of the program, once the sampling thread has ended: says how long CUPTI was away.
  void finish();

 private:
  void end_absence();

  enum class State : std::uint8_t { attached, due, detaching, detached, left };

  const Parts parts_;
  const bool counts_callbacks_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::atomic<State> state_{State::attached};
  std::atomic<int> in_callbacks_{0};
  const std::int64_t started_ns_ = event_clock_ns();
  std::int64_t left_ns_ = 0;
  std::int64_t away_ns_ = 0;  // all of it
};

}  // namespace dlkprof::inject
