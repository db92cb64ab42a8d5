// What the collectors need of the session.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/options.h"
#include "cupti/driver.h"
#include "cupti/host.h"
#include "cupti/library.h"
#include "inject/graphs/graph_watch.h"
#include "inject/session/gpu_wait.h"
#include "inject/session/launch_counter.h"
#include "inject/session/ledger.h"
#include "inject/session/measuring_watch.h"
#include "inject/session/recorder.h"
#include "inject/session/timed_launches.h"
#include "inject/timeline/timeline.h"

namespace dlkprof::inject {

class CollectorServices {
 public:
  struct Parts {
    const capture::ProfileOptions& options;
    const cupti::Library& library;
    const cupti::Driver& driver;
    Recorder& recorder;
    Ledger& ledger;
    Timeline& timeline;
    const GraphWatch& graphs;
    // NVPerf's host side is in use: what it has registered with atexit takes it down, so the end of collecting is registered now.
    std::function<void()> host_used;
    std::function<void()> on_measured;  // a launch was, or a window closed
  };
  explicit CollectorServices(Parts parts)
      : parts_(std::move(parts)),
        measuring_(MeasuringWatch::kLongest, [this](const std::string& kernel) { tell_of_endless_launch(kernel); }) {}

  [[nodiscard]] const Parts* operator->() const noexcept { return &parts_; }
  // cuptiProfilerInitialize, the first time; throws Error.
  void use_profiler();
  // From here on the call that this thread is in takes the profiler's time.
  void mark_overhead() const;
  // Of a launch that activity does not see, as counters are collected of it; none without a timeline.
  [[nodiscard]] std::optional<capture::ActivityEvent> untimed(const Launch& launch) const;
  void add_untimed(const Launch& launch) const;
  // At its exit, where the driver has not refused it.
  void add(const std::optional<capture::ActivityEvent>& untimed, const CUpti_CallbackData& exit) const;
  // A launch came, whether or not it is selected: before its collector is asked.
  void saw(const Launch& launch);
  // What was launched may wait for what the program does next: streams for values in memory, which later calls write; or what
  // launches waited for in vain. So none is made alone any more, which is said once.
  void saw_values();
  [[nodiscard]] bool has_values() const noexcept { return values_; }
  [[nodiscard]] VainWaits& vain_waits() noexcept { return vain_waits_; }
  // For a launch to be alone.
  [[nodiscard]] GpuWait wait_for(CUcontext context, bool all_gpus) noexcept;
  // For good, once launches came for several, or the process has made itself ready for several.
  [[nodiscard]] bool has_several_gpus() noexcept;
  [[nodiscard]] bool waits_for_program() const noexcept { return values_ || vain_waits_.are_many(); }
  void tell_of_vain_waits();
  // A kernel came that holds its stream back (KernelFunction::delays). What is launched then is being timed by the program, so it
  // is not measured, nor is the GPU waited for: the kernel would wait until it gives up, and the time be wrong.
  void saw_delay() noexcept { delayed_until_ = std::chrono::steady_clock::now() + kLongestDelay; }
  [[nodiscard]] bool is_delayed(CUcontext context, std::chrono::steady_clock::time_point now) const noexcept;
  [[nodiscard]] TimedLaunches& timed_launches() noexcept { return timed_launches_; }
  [[nodiscard]] MeasuringWatch& measuring() noexcept { return measuring_; }
  // Whether all of the context is done within that time; `all_gpus`: and the process's other GPUs. No capture may be going on,
  // and the gate is held alone.
  [[nodiscard]] bool is_done(CUcontext context, std::chrono::steady_clock::duration longest,
                             bool all_gpus = false) const noexcept {
    return GpuEvents(parts_.driver, context, all_gpus).are_done_within(longest);
  }
  static constexpr std::chrono::milliseconds kLongestOfOthers{20};  // GPUs, where a launch has waited for its own alone
  // Why a launch cannot be made alone, with what it does before and after; none: it can.
  [[nodiscard]] capture::SkipReason reason_against(const Launch& launch);
  // The id that record_metric_set() will give next.
  [[nodiscard]] std::uint32_t next_metric_set() const noexcept { return metric_sets_ + 1; }
  [[nodiscard]] std::uint32_t record_metric_set(std::uint32_t device, const cupti::CollectionPlan& plan,
                                                const std::vector<std::string>& unavailable);

 private:
  void note_nothing_is_alone(const std::string& cause);
  void tell_of_endless_launch(const std::string& mangled_name) const;

  static constexpr std::chrono::milliseconds kLongestDelay{200};  // XLA's gives up after 2e8 cycles, 100 ms at 2 GHz

  const Parts parts_;
  bool profiler_used_ = false;
  bool collectives_ = false;  // there were some
  std::optional<std::uint32_t> first_device_;
  std::atomic<bool> several_gpus_{false};
  std::atomic<bool> values_{false};
  std::atomic<bool> told_{false};  // that nothing is made alone any more
  VainWaits vain_waits_;
  std::atomic<std::chrono::steady_clock::time_point> delayed_until_{};
  TimedLaunches timed_launches_;
  MeasuringWatch measuring_;
  std::uint32_t metric_sets_ = 0;
};

// What a launch's record has once it is being measured: when and on which thread.
[[nodiscard]] capture::LaunchRecord begun(capture::LaunchRecord record);

}  // namespace dlkprof::inject
