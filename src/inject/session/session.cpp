#include "inject/session/session.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "capture/ranks.h"
#include "cupti/activity.h"
#include "inject/session/session_thread.h"
#include "inject/timeline/nvtx.h"

namespace dlkprof::inject {
namespace {

Session* g_session = nullptr;

}  // namespace

constinit OwnPointer<Session::Thread> Session::Thread::own;
constinit thread_local bool Session::Thread::gone = false;

Session::Thread& Session::this_thread() noexcept {
  static thread_local Thread thread;
  return thread;
}

// --- Beginning --------------------------------------------------------------------------------------------------------

void Session::start_once() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      const char* text = std::getenv(capture::kOptionsVariable);
      if (text == nullptr) return;
      auto options = capture::options_from_json(text);
      if (!options.all_processes && options.application_pid != static_cast<std::uint32_t>(getpid())) return;
      if (capture::is_of_another_rank(options.ranks)) return;
      auto* session = new Session(std::move(options));
      g_session = session;
      session->subscribe();
    } catch (const Error& error) {
      say_startup_failure(error);
    } catch (const std::exception& error) {
      say_startup_failure(Error("profiling could not be started", error.what(), ""));
    }
  });
}

bool Session::wants_resource_names() noexcept { return g_session != nullptr && g_session->selector_.needs_resource_names(); }

Session::Session(capture::ProfileOptions options)
    : options_(std::move(options)),
      library_(cupti::Library::open(options_.cupti_path)),
      driver_(cupti::Driver::open()),
      recorder_(options_, library_.version(),
                [this] {
                  int version = 0;
                  return driver_.cuDriverGetVersion(&version) == CUDA_SUCCESS ? static_cast<std::uint32_t>(version) : 0U;
                }()),
      event_log_(recorder_),
      ranges_(event_log_, recorder_),
      timeline_(event_log_, options_.in_bursts),
      pm_sampling_(library_, recorder_, options_, sampling_hooks()),
      pc_sampling_(options_.pc_sampling ? std::make_unique<PcSampling>(library_, recorder_, *options_.pc_sampling,
                                                                       [] { this_thread().ours = true; })
                                        : nullptr),
      selector_(select::Selector::compile(options_.selection)),
      measuring_(options_.collect == capture::Collect::kernel || options_.collect == capture::Collect::automatic),
      iterating_(options_.collect == capture::Collect::iteration),
      timing_complete_(options_.timeline || options_.collect == capture::Collect::none),
      range_open_(options_.profile_from_start),
      call_roles_(find_call_roles()),
      takes_turns_(options_.collect != capture::Collect::none && options_.collect != capture::Collect::sample),
      only_counts_(!takes_turns_ && selector_.goes_by_name_and_device() && options_.profile_from_start &&
                   options_.delay_seconds <= 0 && options_.duration_seconds <= 0),
      functions_(selector_, [this](const capture::FunctionRecord& record) { on_new_function(record); }) {}

void Session::on_new_function(const capture::FunctionRecord& record) {
  recorder_.append(record);
  if (selector_.limit_exceeded()) {
    recorder_.note(capture::Severity::warning,
                   "a pattern of the selector takes too long on some kernel names, which count as not matched", "",
                   "Write the pattern without nested repetition such as (a+)+.");
  }
}

void Session::subscribe() {
  DLKPROF_CUPTI(library_, cuptiSubscribe, &subscriber_, &Session::on_callback, this);
  watch(true);
  take_activity();
  if (options_.collect == capture::Collect::none) time_from(0);
  quick_ = only_counts_ && options_.timeline && !options_.in_bursts && !pc_sampling_;
  pthread_atfork([] { g_session->before_fork(); }, [] { g_session->after_fork(false); }, [] { g_session->after_fork(true); });
  if (options_.timeline) record_ranges(&ranges_);
}

// A forked child inherits no lock that nobody will release, and nothing that the parent will write.
void Session::before_fork() noexcept {
  ranges_.lock();
  event_log_.lock();
  pm_sampling_.lock();
  recorder_.lock();
}

void Session::after_fork(bool in_child) noexcept {
  if (in_child) {
    Thread::own.clear();
    if (!Thread::gone) Thread::own.put(nullptr, &this_thread());
    this_thread().system_id = static_cast<std::uint32_t>(gettid());
    recorder_.forget();
    pm_sampling_.forget();
    event_log_.forget();
    ranges_.forget();
    if (pc_sampling_) pc_sampling_->forget();
  }
  recorder_.unlock();
  pm_sampling_.unlock();
  event_log_.unlock();
  ranges_.unlock();
}

// --- Ending -----------------------------------------------------------------------------------------------------------

// Nothing can be selected any more: give the program its full speed back. The caller holds the gate alone, and no other
// launch waits to be measured: its exit callback would not come any more.
void Session::detach() {
  measuring_ = false;
  stop_iterating();
  quick_ = false;
  active_ = false;
  replays_.clear();
  iterations_.clear();
  watch(false);
  cupti::Activity::disable();
  cupti::Activity::flush(true);
  detached_ = true;
}

// What CUPTI has put into the driver makes each of its calls slower as long as CUPTI is there, though nobody listens: a step of
// cifar10.py took 1.07 to 1.18 times its own time (H200, CUDA 13.0). CUPTI may be left in the exit of a call (cuptiFinalize in
// cupti_activity.h). It is not where another thread is in a callback of ours, or waits there for the gate; nor where there are
// graphs, which were made with CUPTI's help while it was there.
void Session::leave_cupti() noexcept {
  if (in_callbacks_ > 1 || graphs_seen_ || cupti_left_.exchange(true)) return;
  this_thread().ours = true;
  (void)library_.cuptiFinalize();
  this_thread().ours = false;
}

void Session::register_exit_handlers() {
  // Registered late, when the program has a context, so that it runs before the handlers that take CUDA down.
  std::atexit([] { g_session->finish(); });
}

// Once NVPerf is in use: what it registers at that time takes it down, and must not find an evaluation under way.
void Session::register_iterations_end() {
  std::atexit([] { g_session->finish_iterations(); });
}

// Likewise.
void Session::register_sampling_end() {
  std::atexit([] { g_session->pm_sampling_.finish(); });
}

// Once PC sampling has begun: what CUPTI registers at that time must find it ended.
void Session::register_pc_sampling_end() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit([] { g_session->finish_pc_sampling(); }); });
}

void Session::finish() noexcept {
  finish_pc_sampling();
  quick_ = false;
  const bool was_active = active_.exchange(false);
  if (!recorder_.usable()) return;
  pm_sampling_.finish();
  if (iterating_) finish_iterations();
  this_thread().ours = true;
  try {
    const bool is_away = presence_ == Presence::away;
    if (!cupti_left_ && !is_away) cupti::Activity::flush(true);
    finish_presence();
    if (options_.timeline) {
      ranges_.finish();
      event_log_.finish();
    }
    timing_complete_ = timing_complete_ && was_active;  // else the end of the program was not timed
    append_stats();
    recorder_.append(capture::EndRecord{unix_now_ns(), launches_});
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Session::fail(const std::exception& error) noexcept {
  quick_ = false;
  active_ = false;
  measuring_ = false;
  iterating_ = false;
  const auto* ours = dynamic_cast<const Error*>(&error);
  recorder_.note(capture::Severity::error, std::string("profiling has ended, the program runs on: ") + error.what(),
                 ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
  // Callbacks stay on: launches that are under way in other threads leave the gate at their exit.
  auto& thread = this_thread();
  thread.ours = true;  // taking the counters down calls the driver
  try {
    const std::lock_guard lock(mutex_);
    // Who is not in a launch cannot know that no other thread is measuring with them.
    if (thread.gate != Thread::Gate::none) {
      replays_.clear();
      iterations_.clear();
    }
    timing_complete_ = false;
    timing_ = false;
    if (!cupti_left_ && presence_ != Presence::away) cupti::Activity::disable();
  } catch (const std::exception&) {  // the first failure is what counts
  }
}

}  // namespace dlkprof::inject
