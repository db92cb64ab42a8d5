// Activity records: all the time where a timeline is wanted, else in windows of launches, whose GPU times the ledger is given.
// Thread-safe, but for poll(), which the session's lock guards.
#pragma once

#include <atomic>
#include <cstdint>

#include "capture/options.h"
#include "cupti/library.h"
#include "inject/session/ledger.h"
#include "inject/session/recorder.h"
#include "inject/timeline/timeline.h"

namespace dlkprof::inject {

class TimingWindows {
 public:
  TimingWindows(const cupti::Library& library, const capture::ProfileOptions& options, Recorder& recorder, Ledger& ledger,
                Timeline& timeline);

  // Begins records for a timeline, where one is wanted; a failure is noted, and there is none.
  void take_activity();
  // Read when take_activity() began.
  [[nodiscard]] const capture::ClockRecord& clock() const noexcept { return clock_; }

  // The first launch whose time is of interest; later ones change nothing.
  void begin_at(std::uint64_t launch);
  // Opens the next window where `launch` has reached it.
  void poll(std::uint64_t launch);
  // At the exit of a launch: closes the window that has had its launches.
  void end_if_due(std::uint64_t launches);
  // The ledger is to be told of this launch's correlation.
  [[nodiscard]] bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
  // All launches were timed, until now.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  void set_incomplete() noexcept { complete_ = false; }
  // Profiling has failed: no window opens again.
  void abandon() noexcept;

 private:
  void open_window(std::uint64_t launch);

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  // a launch that will not be made

  const cupti::Library& library_;
  const capture::ProfileOptions& options_;
  Recorder& recorder_;
  Ledger& ledger_;
  Timeline& timeline_;
  capture::ClockRecord clock_;
  std::atomic<bool> open_{false}, complete_;
  std::atomic<bool> begun_{false};
  std::atomic<std::uint64_t> ends_at_{0}, next_at_{kNever};
};

}  // namespace dlkprof::inject
