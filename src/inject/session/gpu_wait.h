// Waiting for what was launched before, as a launch that is to be measured does: the driver and CUPTI wait for it without an end
// in much that is done then, and it may itself wait for what the program does next (a kernel or a host function for a flag).
//
// With the gate held alone and no capture going on, which asking would end; except where another thing is said.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "cupti/context_event.h"
#include "cupti/driver.h"

namespace dlkprof::inject {

// Of one context, and perhaps of all other GPUs' primary ones.
class GpuEvents {
 public:
  // What cannot be asked is taken to be done.
  GpuEvents(const cupti::Driver& driver, CUcontext context, bool all_gpus) noexcept;
  [[nodiscard]] bool are_done_within(std::chrono::steady_clock::duration longest) noexcept;

 private:
  std::vector<std::unique_ptr<cupti::ContextEvent>> undone_;
};

// What the session has waited for in vain.
class VainWaits {
 public:
  static constexpr int kMost = 10, kMostInAll = 30;

  // Whether what was last waited for in vain is not done yet: who would wait for it again need not.
  [[nodiscard]] bool are_going_on() noexcept;
  // `events`: that were waited for; null where it was the gate (any thread may tell that).
  void add(std::unique_ptr<GpuEvents> events) noexcept;
  // A context ends, perhaps that of the events. Any thread may tell.
  void forget() noexcept;
  // Any thread may ask. So many that nothing is to be measured alone any more; or nor taken down.
  [[nodiscard]] bool are_many() const noexcept { return count_ >= kMost; }
  [[nodiscard]] bool are_too_many() const noexcept { return count_ >= kMostInAll; }

 private:
  std::mutex mutex_;  // of the events
  std::unique_ptr<GpuEvents> undone_;
  std::atomic<int> count_{0};
};

// One launch's: is_done() is asked for longer and longer, and others pass meanwhile. Longer, as they may launch faster than the
// GPU is done in the time between.
class GpuWait {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Twice as long each time: 50 ms, 100 ms and so on. With several GPUs a collective may wait for that of another GPU, which a
  // thread that is held up meanwhile is to launch.
  static constexpr std::chrono::milliseconds kFirst{50}, kFirstOfSeveral{3};
  static constexpr std::chrono::milliseconds kLongest{3150};  // in all

  // `once`: and no second time.
  GpuWait(const cupti::Driver& driver, VainWaits& vain, CUcontext context, bool all_gpus, Duration first, bool once) noexcept
      : driver_(driver), vain_(vain), context_(context), all_gpus_(all_gpus), next_(first), left_(once ? first : kLongest) {}

  [[nodiscard]] bool is_done();  // throws std::bad_alloc
  // Any thread may ask.
  [[nodiscard]] bool goes_on() const noexcept { return left_.count() > 0; }

 private:
  const cupti::Driver& driver_;
  VainWaits& vain_;
  CUcontext context_;
  const bool all_gpus_;
  Duration next_, left_;
  std::unique_ptr<GpuEvents> events_;
};

}  // namespace dlkprof::inject
