// The session's way with iteration replay: launches are measured in windows, as the program makes them.
//
// While launches are wanted each holds the gate alone from its entry to its exit: a window is opened and closed between
// launches, and their order is that of its ranges.
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "inject/session/session.h"
#include "inject/session/session_thread.h"

namespace dlkprof::inject {
namespace {

using namespace std::chrono_literals;

// Holding counters slows launches, and launching one at a time does: both end when so many launches have brought no
// configuration that is still wanted.
constexpr std::uint64_t kQuietLaunches = 20'000;
constexpr int kFailuresToEnd = 3;
// A program may end while another thread is in a launch that does not return.
constexpr auto kPatienceAtEnd = 1s;
constexpr auto kBetweenTries = 1ms;

}  // namespace

void Session::enter_window(Counted counted, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  const std::lock_guard lock(mutex_);
  if (iterations_over_) return;
  iterating_ = true;
  if (windows_forbidden_) {
    hold_call();
    thread.ours = true;
    end_iterations("the process works together with other GPUs");
    thread.ours = false;
    return;
  }
  const bool known = iterations_.contains(data.context);
  if (counted.captured || (!known && counted.samples_in_windows == 0)) return;
  counted.record.start_unix_ns = unix_now_ns();
  counted.record.thread_id = static_cast<std::uint32_t>(gettid());
  thread.ours = true;
  try {
    const cupti::CurrentContext current(driver_, data.context);
    if (!known) hold_call();  // setting up takes long
    IterationReplay& replay = iteration_for(data.context, counted.record.key.device);
    counted.record.metric_set = iterations_.at(data.context).metric_set;
    enter_window(replay, {std::move(counted.record), counted.entry, counted.samples_in_windows}, data);
  } catch (const std::exception& error) {
    fail_iteration(error);
  }
  thread.ours = false;
}

void Session::enter_window(IterationReplay& replay, MeasuredLaunch launch, const CUpti_CallbackData& data) {
  if (replay.must_wait(launch)) hold_call();
  const auto decision = replay.decide(launch);
  if (decision == RunScheduler::Before::idle) return;
  hold_call();
  if (counters_used_at_ != 0) release_replays();
  // What was launched before is still to be timed, and not to run in the window.
  try {
    if (!replay.window_open()) cupti::check(driver_, driver_.cuCtxSynchronize(), "cuCtxSynchronize");
  } catch (...) {
    replay.forget_run();
    throw;
  }
  const capture::ActivityEvent work = untimed_activity(launch.record, data.correlationId);
  const bool in_window = this_thread().in_window = replay.enter(decision, std::move(launch));
  if (in_window && options_.timeline) timeline_.add(work, data.symbolName);
}

void Session::leave_window(const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  const std::lock_guard lock(mutex_);
  thread.ours = true;
  try {
    const cupti::CurrentContext current(driver_, data.context);
    if (iterations_.at(data.context).replay->leave()) {
      window_failures_in_a_row_ = 0;
      append_stats();
    }
  } catch (const std::exception& error) {
    fail_iteration(error);
  }
  thread.ours = false;
}

// In all contexts: a graph may have kernels of several. The caller holds the gate shared, so that none is opened meanwhile.
void Session::interrupt_windows() {
  const std::lock_guard lock(mutex_);
  const auto is_open = [](const auto& iteration) { return iteration.second.replay->window_open(); };
  if (std::none_of(iterations_.begin(), iterations_.end(), is_open)) return;
  hold_call();
  this_thread().ours = true;
  have_iterations(&IterationReplay::interrupt);
  this_thread().ours = false;
}

void Session::have_iterations(void (IterationReplay::*act)()) noexcept {
  for (auto& [context, iteration] : iterations_) {
    try {
      const cupti::CurrentContext current(driver_, context);
      (*iteration.replay.*act)();
    } catch (const std::exception& error) {
      fail_iteration(error);
    }
  }
}

IterationReplay& Session::iteration_for(CUcontext context, std::uint32_t device) {
  for (auto& [other, held] : iterations_) {
    if (other == context || held.device != device) continue;
    const cupti::CurrentContext current(driver_, other);
    held.replay->release_counters();  // a GPU's counters have one user
  }
  auto& [replay, its_device, metric_set] = iterations_[context];
  if (replay != nullptr) return *replay;
  release_replays();
  try {
    if (metric_sets_ == 0) cupti::initialize_profiler(library_);
    replay = std::make_unique<IterationReplay>(library_, context, devices_.at(device).chip, options_, evaluated());
  } catch (...) {
    iterations_.erase(context);
    stop_iterating();  // counters cannot be set up: nor will they be next time
    throw;
  }
  if (!std::exchange(iterations_end_registered_, true)) register_iterations_end();
  its_device = device;
  metric_set = ++metric_sets_;
  recorder_.append(capture::MetricSetRecord{.id = metric_set,
                                            .device = device,
                                            .passes = static_cast<std::uint32_t>(replay->plan().passes),
                                            .metrics = replay->plan().metrics,
                                            .unavailable = replay->unavailable()});
  return *replay;
}

// Called on the evaluator's thread: takes no lock of the session's.
LaunchEvaluator::Listener Session::evaluated() {
  return {.on_values =
              [this](MeasuredLaunch&& launch) {
                (void)ledger_.take_sample(launch.entry, std::nullopt);
                recorder_.append(launch.record);
              },
          .on_failure =
              [this](const std::exception& error) {
                const auto* ours = dynamic_cast<const Error*>(&error);
                recorder_.note(capture::Severity::error, std::string("measured launches could not be evaluated: ") + error.what(),
                               ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
              }};
}

// Now and then: whether all that was wanted is there, or the time for it is used up. The caller holds mutex_, and the gate
// alone.
void Session::look_at_iterations() {
  if (!iterating_ || iterations_.empty()) return;
  std::chrono::nanoseconds spent{0};
  bool quiet = true;
  for (const auto& [context, iteration] : iterations_) {
    spent += iteration.replay->spent();
    quiet = quiet && iteration.replay->scheduler().quiet_for() > kQuietLaunches;
  }
  const std::chrono::duration<double> budget(options_.max_overhead_seconds);
  const bool used_up = budget.count() > 0 && spent > budget;
  if (!used_up && !quiet) return;
  this_thread().ours = true;
  hold_call();
  end_iterations(used_up ? "the time for measuring is used up (--max-overhead)" : "");
  this_thread().ours = false;
  detach_due_ = !options_.timeline && !measuring_;
}

// At the end of the process, when other threads may still launch. Also where measuring has ended: nothing may be in the
// midst of being evaluated afterwards.
void Session::finish_iterations() noexcept {
  if (!recorder_.usable()) return;  // in a forked child, which has no evaluator
  std::unique_lock gate(gate_, std::defer_lock);
  for (const auto until = std::chrono::steady_clock::now() + kPatienceAtEnd; !gate.try_lock();) {
    if (std::chrono::steady_clock::now() > until) return;
    std::this_thread::sleep_for(kBetweenTries);
  }
  this_thread().ours = true;
  const std::lock_guard lock(mutex_);
  if (iterating_) end_iterations("");
  for (auto& [context, iteration] : iterations_) iteration.replay->wait_for_values();
  this_thread().ours = false;
}

void Session::fail_iteration(const std::exception& error) noexcept {
  const auto* ours = dynamic_cast<const Error*>(&error);
  recorder_.note(capture::Severity::error, std::string("kernels could not be measured: ") + error.what(),
                 ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
  if (++window_failures_in_a_row_ >= kFailuresToEnd) stop_iterating();
}

// Leaves no window open, in whatever context.
void Session::stop_iterating() noexcept {
  iterating_ = false;
  if (std::exchange(iterations_over_, true)) return;
  have_iterations(&IterationReplay::finish);
}

// Closes what is open, and says what was not measured. `why`: besides that it could not be.
void Session::end_iterations(const std::string& why) noexcept {
  stop_iterating();
  std::size_t incomplete = 0;
  for (const auto& [context, iteration] : iterations_) {
    incomplete += iteration.replay->scheduler().incomplete() + iteration.replay->scheduler().given_up();
  }
  const bool some_are_enough = options_.samples.has_value() || why.empty();
  if (incomplete == 0 && some_are_enough) return;
  const std::string what = incomplete > 0
                               ? std::to_string(incomplete) + " launch configurations were not measured as often as asked"
                               : "not all launches were measured";
  recorder_.note(why.empty() ? capture::Severity::info : capture::Severity::warning, what + (why.empty() ? "" : ": " + why),
                 "those that do not come again in the same surroundings cannot be, where there are several passes",
                 "Measure fewer metrics (--set quick needs one pass), or use --replay-mode kernel.");
}

}  // namespace dlkprof::inject
