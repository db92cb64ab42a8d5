#include "inject/session/window_collector.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject {
namespace {

// When so many launches have brought no configuration that is still wanted, nothing is expected any more.
constexpr std::uint64_t kQuietLaunches = 20'000;
constexpr int kFailuresToEnd = 3;

}  // namespace

// The program waits for a launch that is measured, and for all before it on its GPU. A collective waits for kernels of other
// GPUs: where the same process launches them, it would do so for ever.
bool WindowCollector::wants(Launch& launch) {
  if (services_.waits_for_program()) {
    if (!cautious_) skip(launch, capture::SkipReason::values);
    launch.all_gpus = true;
    return in_use() && !services_.vain_waits().are_too_many();  // which enter() ends
  }
  if (over_) return false;
  if (due_) return launch.all_gpus = true;
  if (launch.function->collective && leaves_collectives_alone()) {
    skip(launch, capture::SkipReason::collective);
    return false;
  }
  if (!launch.selected() || is_captured(launch, services_->graphs.capturing())) return false;
  if (in_autotuning() || (launch.timed && services_.timed_launches().leaves_alone(launch.record.occurrence))) return false;
  if (!launch.window_samples) launch.window_samples = services_->options.samples.value_or(PassScheduler::kAll);
  const std::uint64_t samples = *launch.window_samples;
  const auto held = windows_.find(launch.data.context);
  PassWindows* const windows = held != windows_.end() ? held->second.windows.get() : nullptr;
  const bool wanted = windows != nullptr ? windows->launched(launch.entry, samples) : samples > 0;
  if (samples == 0) return false;
  if (windows != nullptr && windows->is_to_give_back(wanted)) give_back_ = true;
  launch.all_gpus = launch.all_gpus || give_back_;
  return wanted || give_back_;
}

bool WindowCollector::takes_counters_of_another(const Launch& launch) const {
  return std::any_of(windows_.begin(), windows_.end(), [&](const auto& held) {
    const auto& [context, other] = held;
    return context != launch.data.context && other.device == launch.device->index && other.windows->holds_counters();
  });
}

// Whether no context has anything left to do that closing its window would wait for.
bool WindowCollector::are_done() const {
  return std::all_of(windows_.begin(), windows_.end(),
                     [&](const auto& held) { return services_.is_done(held.first, services_.kLongestOfOthers); });
}

// All or none: once one context's session has ended, the next window of any other is empty (cupti::ProfilingSession). False where
// they are to be given back by a later launch, as another GPU is not done.
bool WindowCollector::have_given_back(const Launch& launch) {
  if (takes_counters_of_another(launch)) give_back_ = true;  // a GPU's counters have one user
  if (!give_back_) return true;
  if (!are_done()) return false;
  give_back_ = false;
  release_counters();
  return !over_;
}

// Nothing is measured while a stream is being captured: setting up and reading counters would end the capture.
bool WindowCollector::is_captured(const Launch& launch, bool captured) {
  if (captured) services_->ledger.skipped(launch.entry, capture::SkipReason::captured, false);
  return captured;
}

// While it can still be used. What is being evaluated lies in the image that ending the session writes to.
void WindowCollector::context_ends(CUcontext context) {
  const auto held = windows_.find(context);
  if (held == windows_.end()) return;
  const bool held_counters = held->second.windows->holds_counters();
  try {
    const cupti::CurrentContext current(services_->driver, context);
    if (!over_) held->second.windows->finish();
  } catch (const std::exception& error) {
    fail(error);
  }
  windows_.erase(held);
  give_back_ = !windows_.empty() && (give_back_ || held_counters);
}

void WindowCollector::skip(const Launch& launch, capture::SkipReason reason) {
  if (launch.selected()) services_->ledger.skipped(launch.entry, reason, false);
}

bool WindowCollector::enter(Launch& launch) {
  if (over_) return false;
  if (services_.waits_for_program()) due_ = "what is launched waits for the program";
  if (due_) {
    services_.mark_overhead();
    if (launch.all_gpus || are_done()) end(*due_);  // else the next launch does it
    return false;
  }
  const std::uint64_t wanted = launch.window_samples.value_or(0);
  if (wanted == 0 || is_captured(launch, services_->graphs.is_captured(launch.call))) return false;
  services_.mark_overhead();
  try {
    if (!have_given_back(launch)) return false;
    const cupti::CurrentContext current(services_->driver, launch.data.context);
    const bool known = windows_.contains(launch.data.context);
    PassWindows& windows = windows_of(launch);
    if (!known && !windows.launched(launch.entry, wanted)) return false;
    const bool measured = windows.enter({begun(launch.record), launch.entry}, launch.alone_since);
    if (measured) untimed_ = services_.untimed(launch);
    measuring_ = launch.entry;
    return measured;
  } catch (const std::exception& error) {
    fail(error);
    return false;
  }
}

bool WindowCollector::leave(const CUpti_CallbackData& data) {
  services_.add(std::exchange(untimed_, std::nullopt), data);
  const bool refused = is_refused(data);
  if (refused) services_->ledger.skipped(measuring_, capture::SkipReason::refused, false);
  try {
    const cupti::CurrentContext current(services_->driver, data.context);
    const auto held = windows_.find(data.context);
    if (held != windows_.end() && held->second.windows->leave(refused)) {
      failures_in_a_row_ = 0;
      services_->on_measured();
    }
  } catch (const std::exception& error) {
    fail(error);
  }
  return false;
}

bool WindowCollector::is_stuck(const Launch& launch) const {
  const auto held = windows_.find(launch.data.context);
  return held != windows_.end() && held->second.windows->scheduler().is_stuck(launch.entry);
}

Collector::ByNodes WindowCollector::by_nodes(CUcontext context, const GraphKernels& kernels) {
  if (!usable() || (kernels.collective && leaves_collectives_alone())) return ByNodes::no;
  const auto known = kernels.known;
  if (known.empty()) return ByNodes::yes;  // which configurations they are is not known before they are launched by themselves
  const auto held = windows_.find(context);
  if (held == windows_.end()) return ByNodes::no;
  PassWindows& windows = *held->second.windows;
  const auto is_wanted = [&](Ledger::Entry entry) { return windows.scheduler().is_wanted(entry); };
  if (std::none_of(known.begin(), known.end(), is_wanted)) return ByNodes::no;
  return windows.graph_launched(known) ? ByNodes::yes : ByNodes::later;
}

template <typename Act>
void WindowCollector::for_each(Act act) noexcept {
  for (auto& [context, held] : windows_) {
    try {
      const cupti::CurrentContext current(services_->driver, context);
      act(context, *held.windows);
    } catch (const std::exception& error) {
      fail(error);
    }
  }
}

PassWindows& WindowCollector::windows_of(const Launch& launch) {
  const CUcontext context = launch.data.context;
  if (const auto held = windows_.find(context); held != windows_.end()) return *held->second.windows;
  try {
    services_.use_profiler();
    auto windows = std::make_unique<PassWindows>(services_->library, context, *launch.device, services_->options,
                                                 services_.next_metric_set(), listener());
    services_->host_used();
    for (const auto& asked : windows->asked()) {
      (void)services_.record_metric_set(launch.device->index, asked.plan, asked.unavailable);
    }
    return *windows_.emplace(context, Context{std::move(windows), launch.device->index}).first->second.windows;
  } catch (...) {
    stop(true);  // counters cannot be set up: nor will they be next time
    throw;
  }
}

// Called on the evaluator's thread: takes no lock of the session's.
RangeEvaluator::Listener WindowCollector::listener() {
  return {
      .on_values =
          [this](MeasuredLaunch&& launch) {
            (void)services_->ledger.take_sample(launch.entry, std::nullopt);
            services_->recorder.append(launch.record);
          },
      .on_failure =
          [this](const std::exception& error) { services_->recorder.note("measured launches could not be evaluated", error); }};
}

// Whether the time for measuring is used up, or all that was wanted is there and dlkprof can leave the program. Where it stays
// for the timeline, what comes late is measured too: the first validation of a long training. Windows are closed by the next
// launch that is alone: a stream may begin to be captured beside this one.
bool WindowCollector::poll(const Launch&) {
  if (over_ || windows_.empty()) return false;
  std::chrono::nanoseconds spent{0};
  bool quiet = !services_->options.timeline;
  for (const auto& [context, held] : windows_) {
    spent += held.windows->spent();
    quiet = quiet && held.windows->scheduler().quiet_for() > kQuietLaunches;
  }
  const std::chrono::duration<double> budget(services_->options.max_overhead_seconds);
  const bool used_up = budget.count() > 0 && spent > budget;
  if (!used_up && !quiet) return false;
  due_ = used_up ? "the time for measuring is used up (--max-overhead)" : "";
  return true;
}

bool WindowCollector::is_settled(const Launch&) {
  const auto is_quiet = [](const auto& held) {
    const PassScheduler& scheduler = held.second.windows->scheduler();
    return scheduler.incomplete() == 0 || scheduler.quiet_for() > kQuietLaunches;
  };
  return over_ || (!windows_.empty() && std::all_of(windows_.begin(), windows_.end(), is_quiet));
}

// Also where measuring has ended: nothing may be in the midst of being evaluated afterwards.
void WindowCollector::finish() noexcept {
  if (!services_->recorder.usable()) stop(true);  // nobody will read what lacks counters
  if (!over_) end(due_.value_or(""));
  if (left_open_) {
    services_->recorder.note(capture::Severity::warning, "launches of the last window were not measured",
                             "the GPU was not done with its work at the end of the process", "");
  }
  for (auto& [context, held] : windows_) held.windows->wait_for_values();
}

// What one window lost, later ones make good, with new sessions.
void WindowCollector::fail(const std::exception& error) noexcept {
  give_back_ = true;
  if (!over_ && ++failures_in_a_row_ < kFailuresToEnd) {
    services_->recorder.note("launches of a window could not be measured", error, capture::Severity::warning);
    return;
  }
  services_->recorder.note("kernels could not be measured", error);
  stop(true);
}

void WindowCollector::release_counters() noexcept {
  for_each([](CUcontext, PassWindows& windows) { windows.release_counters(); });
}

// Closing a window waits for its GPU, which may wait for the program: there it stays open.
void WindowCollector::stop(bool alone) noexcept {
  constexpr std::chrono::seconds kLongest(1);
  if (std::exchange(over_, true) || !alone) return;
  for_each([&](CUcontext context, PassWindows& windows) {
    if (services_->graphs.capturing() || services_.is_done(context, kLongest)) return windows.finish();
    left_open_ = left_open_ || windows.window_open();
  });
}

void WindowCollector::note_given_up(std::size_t configurations) {
  services_->recorder.note(capture::Severity::warning,
                           "counters of " + std::to_string(configurations) + " launch configurations were given up",
                           "counters that wait for further passes exceed their share of --max-memory",
                           "Give more --max-memory, or measure fewer metrics (--set quick needs one pass).");
}

// Closes what is open, and says what was not measured. `why`: besides that there were too few launches.
void WindowCollector::end(const std::string& why) noexcept {
  stop(true);
  std::size_t incomplete = 0, given_up = 0;
  for (const auto& [context, held] : windows_) {
    incomplete += held.windows->scheduler().incomplete();
    given_up += held.windows->given_up();
  }
  if (given_up > 0) note_given_up(given_up);
  const bool some_are_enough = services_->options.samples.has_value() || why.empty();
  if (incomplete == 0 && some_are_enough) return;
  const std::string what =
      incomplete > 0 ? std::to_string(incomplete) + " launch configurations lack some metrics" : "not all launches were measured";
  services_->recorder.note(why.empty() ? capture::Severity::info : capture::Severity::warning,
                           what + ": " + (why.empty() ? "too few launches" : why),
                           "each pass of a metric set needs a launch of its own",
                           "Let the program run longer, measure fewer metrics (--set quick needs one pass), or use --replay-mode "
                           "kernel.");
}

}  // namespace dlkprof::inject
