// Counts every launch, asks the selector about it, and knows functions, contexts and devices. Most launches of most programs
// are only counted: those take a path without a lock (count_known). Thread-safe.
#pragma once

#include <cupti.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "capture/options.h"
#include "cupti/driver.h"
#include "cupti/library.h"
#include "inject/session/function_table.h"
#include "inject/session/launch_call.h"
#include "inject/session/ledger.h"
#include "inject/session/recorder.h"
#include "inject/session/thread_state.h"
#include "inject/timeline/nvtx_scopes.h"
#include "select/selector.h"

namespace dlkprof::inject {

// A launch of the program's from its entry on, as it was counted.
struct Launch {
  const LaunchCall& call;
  const CUpti_CallbackData& data;
  const KernelFunction* function = nullptr;
  const capture::DeviceRecord* device = nullptr;
  Ledger::Entry entry = 0;
  select::Verdict verdict = select::Verdict::unmatched;
  capture::LaunchRecord record;  // but for its values and how it was measured

  std::chrono::steady_clock::time_point alone_since;  // set where it is to be measured: most launches are not, and read no clock

  bool timed = false;  // by the program, it seems (TimedLaunches)

  // The collectors' own, between wants() and enter().
  bool replayed = false;                        // it is to be
  bool all_gpus = false;                        // enter() waits for all GPUs of the process, not for the launch's alone
  std::optional<std::uint64_t> window_samples;  // wanted of its configuration in windows

  [[nodiscard]] bool selected() const noexcept { return verdict == select::Verdict::selected; }
};

// As the launch names it, else as the kernel was compiled for.
[[nodiscard]] inline capture::Dim3 cluster_of(const LaunchCall& call, const KernelFunction& function) noexcept {
  return call.cluster == capture::Dim3{} ? function.cluster : call.cluster;
}

class LaunchCounter {
 public:
  // `scopes`: where launches are selected by ranges, else null. `on_first_context` is called before the first context's device is
  // recorded, with the counter's lock held.
  LaunchCounter(const capture::ProfileOptions& options, const cupti::Library& library, const cupti::Driver& driver,
                Recorder& recorder, NvtxScopes* scopes, std::function<void()> on_first_context);

  [[nodiscard]] select::Selector& selector() noexcept { return selector_; }
  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }
  [[nodiscard]] std::uint64_t launches() const noexcept { return launches_.load(std::memory_order_relaxed); }
  // Nothing is measured, and functions and devices alone say what is matched.
  [[nodiscard]] bool only_counts() const noexcept { return only_counts_; }

  // A launch that the thread knows to be only counted. False, and nothing done, where it is to be counted the long way.
  [[nodiscard]] bool count_known(CUcontext context, CUfunction function, ThreadState& thread) noexcept;
  // Throws Error.
  [[nodiscard]] Launch count(const LaunchCall& call, const CUpti_CallbackData& data, ThreadState& thread);
  // The collector may now and then do what costs something, from this launch on.
  [[nodiscard]] static bool is_time_to_poll(std::uint64_t launch) noexcept { return launch % kLaunchesBetweenPolls == 0; }

  // Appends to the capture what became of launches since the last time. Throws Error.
  void append_counts(bool timing_complete);
  // The same, where the last time is long enough ago; whether it was.
  bool append_counts_if_due(bool timing_complete);

  // Between cuProfilerStart and Stop, where that was asked for; and in the time that was asked for.
  void set_profiler_range(bool open) noexcept { range_open_ = open; }
  [[nodiscard]] bool selecting() const;

  // The program's loop has gone round so often that what it captures into CUDA graphs is likely to be captured. To be asked by
  // one thread alone.
  [[nodiscard]] bool past_warm_up();

  // Throws Error.
  [[nodiscard]] const capture::DeviceRecord& device_of(CUcontext context);
  [[nodiscard]] std::uint64_t epoch() const noexcept { return functions_.epoch(); }
  void module_ends() noexcept { functions_.forget_handles(); }
  void context_ends(CUcontext context);
  // Nobody told us for a while what ended.
  void forget_handles();

 private:
  [[nodiscard]] const KernelFunction& function_of(const LaunchCall& call, const char* symbol, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] select::LaunchIdentity identify(const LaunchCall& call, const CUpti_CallbackData& data,
                                                const KernelFunction& function);
  [[nodiscard]] std::uint32_t find_device(CUcontext context);
  void on_new_function(const capture::FunctionRecord& record);

  // Polling in every launch would cost as much as the rest of counting it.
  static constexpr std::uint64_t kLaunchesBetweenPolls = 1024;

  const capture::ProfileOptions& options_;
  const cupti::Library& library_;
  const cupti::Driver& driver_;
  Recorder& recorder_;
  NvtxScopes* const scopes_;
  const std::function<void()> on_first_context_;
  select::Selector selector_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::atomic<bool> range_open_;
  const bool only_counts_;
  bool past_warm_up_ = false;
  Ledger ledger_;
  std::atomic<std::chrono::steady_clock::time_point> counts_appended_{};
  std::mutex mutex_;
  std::map<CUcontext, std::uint32_t> context_devices_;
  std::map<std::uint32_t, capture::DeviceRecord> devices_;
  // What count_known() needs of a launch, and what functions_ begins with: in one line of the caches.
  alignas(64) std::atomic<std::uint64_t> launches_{0};
  FunctionTable functions_;
};

}  // namespace dlkprof::inject
