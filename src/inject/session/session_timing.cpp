// The session's times: which launches the ledger is told the GPU time of, and what goes to the capture meanwhile.
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "cupti/activity.h"
#include "inject/session/session.h"
#include "inject/session/session_thread.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// Activity records slow a launch-bound program by some 6 %, so only windows of so many launches are timed. They start where
// timing begins, 2048 launches later, and at each fourfold launch from there: enough to say where the GPU time goes, early and
// late.
constexpr std::uint64_t kTimedLaunches = 512;
constexpr std::uint64_t kSecondWindow = 2048;
constexpr std::uint64_t kWindowGrowth = 4;
// How often counts go to the capture, so that little is lost when the process is killed.
constexpr auto kStatsInterval = std::chrono::seconds(1);

}  // namespace

// What is done only now and then, as it costs something. The caller holds mutex_.
void Session::look_around(std::uint64_t launch) {
  if (Clock::now() - stats_appended_ > kStatsInterval) {
    append_stats();
    if (options_.timeline) event_log_.flush_soon();
  }
  look_at_iterations();
  if (launch >= next_window_ && !timing_) {
    next_window_ *= kWindowGrowth;
    start_timing(launch);
  }
}

void Session::append_stats() {
  stats_appended_ = Clock::now();
  if (auto changes = ledger_.changes(timing_complete_)) recorder_.append(*changes);
}

// Activity records are taken in windows of launches, or all the time where the timeline is asked for.
void Session::take_activity() {
  if (!options_.timeline) return;
  try {
    const capture::ClockRecord clock{.monotonic_ns = event_clock_ns(), .unix_ns = unix_now_ns()};
    clock_ = clock;
    cupti::Activity::enable(library_, cupti::Activity::Scope::kernels_and_memory,
                            [this](const capture::ActivityEvent& work, const char* kernel) { timeline_.add(work, kernel); });
  } catch (const Error& error) {
    timing_complete_ = false;
    recorder_.note(capture::Severity::warning, "there is no timeline: GPU work cannot be timed", error.detail(), error.remedy());
  }
}

// From the first launch on that is selected, or nearly is: before there is nothing to compare with, and activity that was on once
// makes each call slower until CUPTI is left (cifar10.py at batch size 4 took 1.07 of its own time, and 1.00 without; H200, CUDA
// 13.0, docs/performance.md).
void Session::time_from(std::uint64_t launch) {
  if (options_.timeline || std::exchange(timing_begun_, true)) return;  // a timeline knows the time of all of them
  timing_complete_ = launch == 0;
  next_window_ = launch + kSecondWindow;
  start_timing(launch);
}

void Session::start_timing(std::uint64_t launch) {
  const bool all = options_.collect == capture::Collect::none;  // what is asked for is times
  timing_ends_ = all ? kNever : launch + kTimedLaunches;
  timing_ = true;
  this_thread().ours = true;
  try {
    cupti::Activity::enable(library_, cupti::Activity::Scope::kernels,
                            [this](const capture::ActivityEvent& work, const char*) { ledger_.add_time(work); });
  } catch (const Error& error) {
    timing_ = false;
    timing_complete_ = false;
    next_window_ = kNever;
    recorder_.note(capture::Severity::warning, "kernels cannot be timed, so GPU time left unmatched is not known", error.detail(),
                   error.remedy());
  }
  this_thread().ours = false;
}

void Session::stop_timing() {
  if (!timing_.exchange(false)) return;
  timing_complete_ = false;
  this_thread().ours = true;
  cupti::Activity::disable();
  cupti::Activity::flush(false);
  this_thread().ours = false;
}

}  // namespace dlkprof::inject
