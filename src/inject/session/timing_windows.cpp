#include "inject/session/timing_windows.h"

#include "base/clock.h"
#include "base/error.h"
#include "cupti/activity.h"
#include "inject/session/thread_state.h"

namespace dlkprof::inject {
namespace {

// Activity records slow a launch-bound program by some 6 %, so only windows of so many launches are timed. They start where
// timing begins, 2048 launches later, and at each fourfold launch from there: enough to say where the GPU time goes, early and
// late.
constexpr std::uint64_t kTimedLaunches = 512;
constexpr std::uint64_t kSecondWindow = 2048;
constexpr std::uint64_t kWindowGrowth = 4;

}  // namespace

TimingWindows::TimingWindows(const cupti::Library& library, const capture::ProfileOptions& options, Recorder& recorder,
                             Ledger& ledger, Timeline& timeline)
    : library_(library),
      options_(options),
      recorder_(recorder),
      ledger_(ledger),
      timeline_(timeline),
      complete_(options.timeline || options.collect == capture::Collect::none) {}

void TimingWindows::take_activity() {
  if (!options_.timeline) return;
  try {
    clock_ = {.monotonic_ns = event_clock_ns(), .unix_ns = unix_now_ns()};
    cupti::Activity::enable(library_, cupti::Activity::Scope::kernels_and_memory,
                            [this](const capture::ActivityEvent& work, const char* kernel) { timeline_.add(work, kernel); });
  } catch (const Error& error) {
    complete_ = false;
    recorder_.note(capture::Severity::warning, "there is no timeline: GPU work cannot be timed", error.detail(), error.remedy());
  }
}

// Before that launch there is nothing to compare with, and activity that was on once makes each call slower until CUPTI is left
// (cifar10.py at batch size 4 took 1.07 of its own time, and 1.00 without; H200, results/2026-11-23-h200/performance.md).
void TimingWindows::begin_at(std::uint64_t launch) {
  if (options_.timeline) return;                             // which knows the time of all of them
  if (options_.collect == capture::Collect::source) return;  // counts of instructions are 0 where activity is recorded
  if (begun_.load(std::memory_order_relaxed) || begun_.exchange(true)) return;
  complete_ = launch == 0;
  next_at_ = launch + kSecondWindow;
  open_window(launch);
}

void TimingWindows::poll(std::uint64_t launch) {
  if (launch < next_at_ || open_) return;
  next_at_ = next_at_ * kWindowGrowth;
  open_window(launch);
}

void TimingWindows::open_window(std::uint64_t launch) {
  const bool all = options_.collect == capture::Collect::none;  // what is asked for is times
  ends_at_ = all ? kNever : launch + kTimedLaunches;
  open_ = true;
  const OwnCalls own;
  try {
    cupti::Activity::enable(library_, cupti::Activity::Scope::kernels,
                            [this](const capture::ActivityEvent& work, const char*) { ledger_.add_time(work); });
  } catch (const Error& error) {
    open_ = complete_ = false;
    next_at_ = kNever;
    recorder_.note(capture::Severity::warning, "kernels cannot be timed, so GPU time left unmatched is not known", error.detail(),
                   error.remedy());
  }
}

void TimingWindows::end_if_due(std::uint64_t launches) {
  if (!open() || launches < ends_at_ || !open_.exchange(false)) return;
  complete_ = false;
  const OwnCalls own;
  cupti::Activity::disable();
  cupti::Activity::flush(false);
}

void TimingWindows::abandon() noexcept {
  complete_ = open_ = false;
  next_at_ = kNever;
}

}  // namespace dlkprof::inject
