#include "inject/session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "capture/ranks.h"
#include "cupti/activity.h"
#include "inject/nvtx.h"
#include "inject/session_thread.h"

namespace dlkprof::inject {
namespace {

// Counters that are held slow every launch; taking them again costs some 10 ms. So they are given back after this many
// launches without a measurement.
constexpr std::uint64_t kIdleLaunches = 1000;
Session* g_session = nullptr;

constexpr CUpti_CallbackId kGraphLaunches[] = {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
constexpr CUpti_CallbackId kCaptureBegins[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz};
constexpr CUpti_CallbackId kCaptureEnds[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                                             CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};
constexpr CUpti_CallbackId kProfilerRange[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

template <std::size_t N>
bool is_one_of(CUpti_CallbackId id, const CUpti_CallbackId (&ids)[N]) {
  for (const auto candidate : ids) {
    if (id == candidate) return true;
  }
  return false;
}

// One more while this lives; null: not counted.
class Counting {
 public:
  explicit Counting(std::atomic<int>* count) : count_(count) {
    if (count_ != nullptr) ++*count_;
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() {
    if (count_ != nullptr) --*count_;
  }

 private:
  std::atomic<int>* count_;
};

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

// By name, as there are some two hundred with their versions: copies, sets, what takes and gives back memory, and waits.
std::vector<Session::CallRole> Session::find_call_roles() const {
  std::vector<CallRole> roles(CUPTI_DRIVER_TRACE_CBID_SIZE);
  for (CUpti_CallbackId id = 1; id < roles.size(); ++id) {
    const char* name = nullptr;
    const CUptiResult result = library_.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
    if (result == CUPTI_ERROR_INVALID_PARAMETER) continue;  // this CUPTI is older than the headers, and has no such call
    cupti::check(library_, result, "cuptiGetCallbackName");
    if (name == nullptr) continue;
    const std::string_view call(name);
    const auto is_one_of = [call](std::initializer_list<const char*> prefixes) {
      return std::any_of(prefixes.begin(), prefixes.end(), [call](const char* prefix) { return call.starts_with(prefix); });
    };
    const bool memory = is_one_of({"cuMemcpy", "cuMemset", "cuMemAlloc", "cuMemFree", "cuMemMap", "cuMemUnmap", "cuMemPrefetch"});
    const bool waits = is_one_of({"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"});
    const bool graph = is_one_of({"cuGraphLaunch"});
    const bool capture = is_one_of({"cuStreamBeginCapture"});
    const bool windows = iterating_ || options_.collect == capture::Collect::automatic;
    roles[id].gated = (memory && measuring_) || ((graph || capture) && (measuring_ || windows));
    roles[id].timed = (memory || waits || graph) && options_.timeline;
    roles[id].only_timed = roles[id].timed && !roles[id].gated && !graph;
  }
  return roles;
}

void Session::watch(bool on) {
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    DLKPROF_CUPTI(library_, cuptiEnableCallback, on ? 1U : 0U, subscriber_, domain, id);
  };
  for (const auto id : kLaunchEntries) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kGraphLaunches) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (CUpti_CallbackId id = 0; id < call_roles_.size(); ++id) {
    if (call_roles_[id].gated || call_roles_[id].timed) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  for (const auto id : kCaptureBegins) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kCaptureEnds) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kProfilerRange) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
  if (pc_sampling_) enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
}

// --- Callbacks --------------------------------------------------------------------------------------------------------

[[gnu::hot]] void Session::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept {
  auto& session = *static_cast<Session*>(self);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && session.quick_.load(std::memory_order_relaxed) &&
      session.on_quick_call(id, *static_cast<const CUpti_CallbackData*>(data))) {
    return;
  }
  auto& thread = this_thread();
  // The modules are the program's even where a call of ours has the driver load them.
  const bool loads = domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED;
  if (thread.ours && !loads) return;
  const bool leaves = !session.options_.timeline || session.options_.in_bursts;
  const Counting counting(leaves ? &session.in_callbacks_ : nullptr);
  // CUPTI is being left on another thread, which waits for those that are counted.
  if (leaves && domain == CUPTI_CB_DOMAIN_DRIVER_API && is_launch(id) && session.presence_ == Presence::leaving) return;
  try {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) session.on_driver_call(thread, id, *static_cast<const CUpti_CallbackData*>(data));
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) session.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
  } catch (const std::exception& error) {
    session.fail(error);
    thread.measuring.reset();
    thread.in_window = false;
    thread.call = {};
    thread.leave(session.gate_);  // last: who comes next must find the counters taken down
    thread.ours = false;
  }
}

void Session::on_driver_call(Thread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  auto& call = thread.call;
  if (!entry && !call.held) timeline_.end(call, thread.system_id, id, data);
  if (is_launch(id)) {
    if (!entry) {
      on_launch_exit(thread, id, data);
      if (call.held) timeline_.end(call, thread.system_id, id, data);
    } else if (active_.load(std::memory_order_relaxed)) {
      if (const auto launch = read_launch(id, data.functionParams)) on_launch_entry(thread, *launch, data);
      if (options_.timeline && !call.held) Timeline::begin(call);
    }
    return;
  }
  on_other_call(id, data);
  if (!entry && call.held) timeline_.end(call, thread.system_id, id, data);
  if (entry && active_ && !call.held && id < call_roles_.size() && call_roles_[id].timed) Timeline::begin(call);
}

void Session::on_other_call(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  const bool gated = id < call_roles_.size() && call_roles_[id].gated;
  if (gated && entry) pass_gate(entry);
  if (entry && active_ && is_one_of(id, kGraphLaunches)) {
    ledger_.graph_launched();
    if (pc_sampling_ && captures_active_ == 0) sample_pcs(data.context);
  }
  if (entry && iterating_ && (is_one_of(id, kGraphLaunches) || is_one_of(id, kCaptureBegins))) interrupt_windows();
  if (is_one_of(id, kGraphLaunches) || is_one_of(id, kCaptureBegins) || is_one_of(id, kCaptureEnds)) graphs_seen_ = true;
  if (is_one_of(id, kCaptureBegins) && !entry) ++captures_active_;
  if (is_one_of(id, kCaptureEnds) && entry && captures_active_ > 0) --captures_active_;
  if (!options_.profile_from_start && is_one_of(id, kProfilerRange) && !entry) {
    range_open_ = id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
  }
  if (gated && !entry) pass_gate(entry);
}

void Session::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED && pc_sampling_) pc_sampling_->module_loaded(data);
  if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) functions_.forget_handles();
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) on_context_end(data.context);
}

void Session::on_context_end(CUcontext context) {
  functions_.forget_handles();
  this_thread().ours = true;  // ending PC sampling and taking the counters down calls the driver
  if (pc_sampling_) pc_sampling_->context_ends(context);
  const std::lock_guard lock(mutex_);
  context_devices_.erase(context);
  replays_.erase(context);
  iterations_.erase(context);
  this_thread().ours = false;
}

void Session::on_launch_entry(Thread& thread, const LaunchCall& call, const CUpti_CallbackData& data) {
  if (takes_turns_ && !iterating_) thread.enter_shared(gate_);
  if (iterating_) thread.enter_alone(gate_);  // asked again: windows begin while the gate is held alone, and nobody has it shared
  if (!active_) return thread.leave(gate_);   // detached while this thread waited: no exit callback will come
  const bool alone = thread.gate == Thread::Gate::alone;
  if (!alone && count_quickly(call, data.context, thread)) return;
  Counted counted = count(call, data);
  if (pc_sampling_ && !thread.sampled.contains(data.context, functions_.epoch()) && !is_captured(call)) sample_pcs(data.context);
  auto measuring = take_sample(counted);
  if (!measuring && (alone || counted.samples_in_windows > 0)) {
    if (!alone) thread.enter_alone(gate_);  // it begins with this launch
    if (!active_) return thread.leave(gate_);
    if (counters_are_idle()) release_counters();
    return enter_window(std::move(counted), data);
  }
  if (measuring || counters_are_idle()) hold_alone(std::move(measuring), call, data);
}

// Counters that are held and that no launch has needed for long.
bool Session::counters_are_idle() const {
  const std::uint64_t used_at = counters_used_at_.load(std::memory_order_relaxed);
  return used_at != 0 && launches_ - used_at > kIdleLaunches;
}

// Has all other launches wait while this one is measured, or the counters are given back.
void Session::hold_alone(std::optional<Measuring> measuring, const LaunchCall& call, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  hold_call();
  thread.enter_alone(gate_);
  if (!active_) {
    if (measuring) ledger_.left_alone(measuring->entry, capture::LeftAlone::failed, true);
    thread.leave(gate_);
  } else if (measuring && captures_active_ > 0) {  // begun while this thread waited
    const std::lock_guard lock(mutex_);
    --waiting_;
    ledger_.left_alone(measuring->entry, capture::LeftAlone::captured, true);
    thread.leave(gate_);
  } else if (measuring) {
    begin(std::move(*measuring), call, data);
  } else {
    release_counters();
  }
}

// From here on the call takes the profiler's time.
void Session::hold_call() {
  if (!options_.timeline) return;
  auto& call = this_thread().call;
  if (call.held) return;
  Timeline::begin(call);
  call.held = true;
}

void Session::on_launch_exit(Thread& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (thread.gate == Thread::Gate::alone && thread.measuring) {
    end(*thread.measuring, data);
    if (options_.timeline) event_log_.flush();  // what took so long to measure is not to be lost when the program crashes
    thread.measuring.reset();
  }
  if (thread.in_window) leave_window(data);
  thread.in_window = false;
  if (thread.gate == Thread::Gate::alone && detach_due_) detach();
  if (thread.gate == Thread::Gate::alone && detached_) leave_cupti();
  thread.leave(gate_);
  if (!active_.load(std::memory_order_relaxed)) return;
  if (presence_.load(std::memory_order_relaxed) == Presence::due_to_leave) {
    const auto launch = read_launch(id, data.functionParams);
    if (launch && is_captured(*launch)) graphs_seen_ = true;  // the capture began while CUPTI was away
    leave_for_now();
  }
  if (timing_.load(std::memory_order_relaxed) && launches_ >= timing_ends_) stop_timing();
}

// Calls that change GPU memory, or run kernels that do, wait while a launch is being replayed: what they write between two
// passes would be undone when memory is restored.
void Session::pass_gate(bool entry) {
  auto& thread = this_thread();
  if (!entry) return thread.leave(gate_);
  if (active_) thread.enter_shared(gate_);
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
