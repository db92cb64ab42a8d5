// The CUDA calls of the program and what the GPU did of them, as events of the capture. Thread-safe; never throws.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "dlkprof/capture_format.h"
#include "inject/timeline/event_log.h"

namespace dlkprof::inject {

// A CUDA call that a thread is in. Its end is told by the same thread.
struct OpenCall {
  std::int64_t start_ns = 0;  // 0: none is open
  std::uint64_t range = 0;
  std::uint64_t launch_index = capture::kNoLaunch;
  std::uint32_t function = 0;
  bool held = false;  // CallEvent::held: the profiler's own work belongs to it
};

// The work of a launch that is measured, where CUPTI's activity does not see it (cupti::ActivityPause).
[[nodiscard]] capture::ActivityEvent untimed_activity(const capture::LaunchRecord& launch, std::uint32_t correlation);

class Timeline {
 public:
  // `resumes`: CUPTI will leave the process and come back.
  explicit Timeline(EventLog& log, bool resumes = false) : log_(log), resumes_(resumes) {}

  // The last thing at a call's entry and the first at its exit, so that what the profiler does counts for neither; the other
  // way round where it does much, so that all of it can be cut out.
  static void begin(OpenCall& call) noexcept;
  // `thread`: gettid(2).
  void end(OpenCall& call, std::uint32_t thread, CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept;
  // `kernel`: the mangled name, or null.
  void add(capture::ActivityEvent event, const char* kernel) noexcept;

  // CUPTI is about to come back to the process, or has come; work that is told of later is of calls that it saw.
  void resume() noexcept;
  // Whether any was told of since.
  [[nodiscard]] bool has_activity() const noexcept { return has_work_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint32_t name_of(CUpti_CallbackId id, const char* name) noexcept;

  EventLog& log_;
  const bool resumes_;
  std::atomic<std::int64_t> since_ns_{0};           // calls that began before were not seen to begin
  std::atomic<std::uint32_t> last_correlation_{0};  // of the capture, so far
  std::atomic<std::uint32_t> correlation_base_{0};  // CUPTI may number calls from 1 again when it comes back
  std::atomic<bool> has_work_{false};
  std::array<std::atomic<std::uint32_t>, CUPTI_DRIVER_TRACE_CBID_SIZE> names_{};  // by callback id; 0: not asked for yet
};

}  // namespace dlkprof::inject
