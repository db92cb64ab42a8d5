#include "inject/session.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "capture/encoding.h"
#include "cupti/activity.h"
#include "inject/counter_cache.h"
#include "inject/resource_names.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// Activity records slow a launch-bound program by some 6 %, so only windows of so many launches are timed. They start at
// launch 0 and at 2048 times each power of 4: enough to say where the GPU time goes, early and late.
constexpr std::uint64_t kTimedLaunches = 512;
constexpr std::uint64_t kSecondWindow = 2048;
constexpr std::uint64_t kWindowGrowth = 4;
// How often counts go to the capture, so that little is lost when the process is killed.
constexpr auto kStatsInterval = std::chrono::seconds(1);
// Looking at the clock in every launch would cost as much as the rest of counting it.
constexpr std::uint64_t kLaunchesBetweenLooks = 1024;
// Counters that are held slow every launch; taking them again costs some 10 ms. So they are given back after this many
// launches without a measurement.
constexpr std::uint64_t kIdleLaunches = 1000;
// After so many launches in a row that could not be measured the next will not be either.
constexpr int kFailuresToStop = 3;

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

}  // namespace

// What the session knows of a thread that is inside the driver.
struct Session::Thread {
  enum class Gate : std::uint8_t { none, shared, alone };
  Gate gate = Gate::none;
  bool ours = false;  // the calls made now are the session's own, not the program's
  std::optional<Measuring> measuring;
  CounterCache counters;

  void enter_shared(std::shared_mutex& mutex) {
    mutex.lock_shared();
    gate = Gate::shared;
  }
  void enter_alone(std::shared_mutex& mutex) {
    leave(mutex);
    mutex.lock();
    gate = Gate::alone;
  }
  void leave(std::shared_mutex& mutex) {
    if (gate == Gate::shared) mutex.unlock_shared();
    if (gate == Gate::alone) mutex.unlock();
    gate = Gate::none;
  }
};

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
      selector_(select::Selector::compile(options_.selection)),
      measuring_(options_.collect == capture::Collect::kernel),
      range_open_(options_.profile_from_start),
      memory_calls_(find_memory_calls()),
      functions_(driver_, selector_, [this](const capture::FunctionRecord& record) { on_new_function(record); }) {}

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
  start_timing();
  pthread_atfork([] { g_session->recorder_.lock(); }, [] { g_session->recorder_.unlock(); },
                 [] {
                   g_session->recorder_.forget();
                   g_session->recorder_.unlock();
                 });
}

// By name, as there are some two hundred with their versions: copies, sets, and what takes and gives back memory.
std::vector<bool> Session::find_memory_calls() const {
  std::vector<bool> found(CUPTI_DRIVER_TRACE_CBID_SIZE);
  if (options_.collect == capture::Collect::none) return found;
  for (CUpti_CallbackId id = 1; id < found.size(); ++id) {
    const char* name = nullptr;
    const CUptiResult result = library_.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
    if (result == CUPTI_ERROR_INVALID_PARAMETER) continue;  // this CUPTI is older than the headers, and has no such call
    cupti::check(library_, result, "cuptiGetCallbackName");
    if (name == nullptr) continue;
    const std::string_view call(name);
    for (const auto* prefix : {"cuMemcpy", "cuMemset", "cuMemAlloc", "cuMemFree", "cuMemMap", "cuMemUnmap", "cuMemPrefetch"}) {
      if (call.starts_with(prefix)) found[id] = true;
    }
  }
  return found;
}

void Session::watch(bool on) {
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    DLKPROF_CUPTI(library_, cuptiEnableCallback, on ? 1U : 0U, subscriber_, domain, id);
  };
  for (const auto id : kLaunchEntries) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kGraphLaunches) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (CUpti_CallbackId id = 0; id < memory_calls_.size(); ++id) {
    if (memory_calls_[id]) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  for (const auto id : kCaptureBegins) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kCaptureEnds) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kProfilerRange) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
}

// --- Callbacks --------------------------------------------------------------------------------------------------------

void Session::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept {
  auto& session = *static_cast<Session*>(self);
  auto& thread = this_thread();
  if (thread.ours) return;
  try {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) session.on_driver_call(id, *static_cast<const CUpti_CallbackData*>(data));
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) session.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
  } catch (const std::exception& error) {
    session.fail(error);
    thread.measuring.reset();
    thread.leave(session.gate_);  // last: who comes next must find the counters taken down
    thread.ours = false;
  }
}

void Session::on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  if (const auto call = read_launch(id, data.functionParams)) {
    if (!entry) return on_launch_exit(data);
    if (active_.load(std::memory_order_relaxed)) on_launch_entry(*call, data);
    return;
  }
  if (id < memory_calls_.size() && memory_calls_[id]) return pass_gate(entry);
  if (is_one_of(id, kGraphLaunches)) {
    if (entry && active_) ledger_.graph_launched();
    return pass_gate(entry);
  }
  if (is_one_of(id, kCaptureBegins) && !entry) ++captures_active_;
  if (is_one_of(id, kCaptureEnds) && entry && captures_active_ > 0) --captures_active_;
  if (!options_.profile_from_start && is_one_of(id, kProfilerRange) && !entry) {
    range_open_ = id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
  }
}

void Session::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  const std::lock_guard lock(mutex_);
  if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) functions_.forget_handles();
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    functions_.forget_handles();
    context_devices_.erase(data.context);
    this_thread().ours = true;  // taking the counters down calls the driver
    replays_.erase(data.context);
    this_thread().ours = false;
  }
}

void Session::on_launch_entry(const LaunchCall& call, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  thread.enter_shared(gate_);
  if (!active_) return thread.leave(gate_);  // detached while this thread waited: no exit callback will come
  if (count_quickly(call, thread)) return;
  auto measuring = count(call, data);
  const std::uint64_t used_at = counters_used_at_.load(std::memory_order_relaxed);
  const bool idle = used_at != 0 && launches_ - used_at > kIdleLaunches;
  if (!measuring && !idle) return;
  thread.enter_alone(gate_);
  if (!active_) {
    if (measuring) ledger_.left_alone(measuring->entry, capture::LeftAlone::failed, true);
    thread.leave(gate_);
  } else if (measuring) {
    begin(std::move(*measuring), call, data);
  } else {
    release_counters();
  }
}

void Session::on_launch_exit(const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.measuring) end(*thread.measuring, data);
  thread.measuring.reset();
  thread.leave(gate_);
  if (!active_.load(std::memory_order_relaxed)) return;
  if (timing_.load(std::memory_order_relaxed) && launches_ >= timing_ends_) stop_timing();
}

// Calls that change GPU memory, or run kernels that do, wait while a launch is being replayed: what they write between two
// passes would be undone when memory is restored.
void Session::pass_gate(bool entry) {
  auto& thread = this_thread();
  if (!entry) return thread.leave(gate_);
  if (active_) thread.enter_shared(gate_);
}

// --- The launch path --------------------------------------------------------------------------------------------------

bool Session::window_open() const {
  if (!range_open_) return false;
  if (options_.delay_seconds <= 0 && options_.duration_seconds <= 0) return true;
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  if (elapsed < options_.delay_seconds) return false;
  return options_.duration_seconds <= 0 || elapsed < options_.delay_seconds + options_.duration_seconds;
}

// Most launches of most programs: of a function that no filter takes, when nothing else is to be done.
bool Session::count_quickly(const LaunchCall& call, Thread& thread) {
  auto* counter = thread.counters.find(call.function, functions_.epoch());
  if (counter == nullptr || launches_.load(std::memory_order_relaxed) % kLaunchesBetweenLooks == 0 ||
      timing_.load(std::memory_order_relaxed)) {
    return false;
  }
  counter->fetch_add(1, std::memory_order_relaxed);
  launches_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::optional<Session::Measuring> Session::count(const LaunchCall& call, const CUpti_CallbackData& data) {
  const std::lock_guard lock(mutex_);
  const KernelFunction& function = functions_.find(call.function, data.symbolName);
  const auto identity = identify(call, data, function);
  const auto verdict = window_open() ? selector_.decide(function.match, identity) : select::Verdict::unmatched;
  const auto counted = ledger_.launched(identity.key, function.match, verdict != select::Verdict::unmatched);
  const std::uint64_t index = launches_++;
  if (index % kLaunchesBetweenLooks == 0) look_around(index);

  if (verdict == select::Verdict::selected && options_.collect != capture::Collect::none) {
    auto reason = reason_to_leave(call, function);
    if (reason == capture::LeftAlone::none && !measuring_) reason = capture::LeftAlone::failed;
    if (reason != capture::LeftAlone::none) {
      ledger_.left_alone(counted.entry, reason, false);
    } else if (ledger_.take_sample(counted.entry, options_.samples)) {
      Measuring measuring;
      measuring.entry = counted.entry;
      measuring.record = {.index = index,
                          .key = identity.key,
                          .occurrence = static_cast<std::uint32_t>(counted.occurrence),
                          .context_id = identity.context_id,
                          .stream_id = identity.stream_id};
      ++waiting_;
      return measuring;
    }
  }
  if (timing_.load(std::memory_order_relaxed)) {
    ledger_.expect_time(data.correlationId, counted.entry);
  } else if (function.match != select::NameMatch::yes && options_.selection.launch_skip_before_match == 0) {
    this_thread().counters.put(call.function, functions_.epoch(), ledger_.counter(counted.entry, function.match));
  }
  return std::nullopt;
}

// What filters look at. For functions whose name no filter takes, launch configurations are not told apart, and no calls
// are made: that keeps the launch path of all other kernels short.
select::LaunchIdentity Session::identify(const LaunchCall& call, const CUpti_CallbackData& data, const KernelFunction& function) {
  select::LaunchIdentity launch;
  launch.key = {.device = device_of(data.context), .function = function.record.id};
  launch.name_id = function.name_id;
  if (function.match != select::NameMatch::yes) return launch;
  launch.key.grid = call.grid;
  launch.key.block = call.block;
  launch.key.cluster = call.cluster;
  launch.key.dynamic_shared_bytes = call.dynamic_shared_bytes;
  launch.context_id = data.contextUid;
  DLKPROF_CUPTI(library_, cuptiGetStreamIdEx, data.context, call.stream, call.per_thread_stream ? 1 : 0, &launch.stream_id);
  if (selector_.needs_resource_names()) {
    launch.context_name = resource_name(data.context);
    launch.stream_name = resource_name(call.stream);
  }
  return launch;
}

capture::LeftAlone Session::reason_to_leave(const LaunchCall& call, const KernelFunction& function) const {
  if (call.cooperative) return capture::LeftAlone::cooperative;
  if (function.collective) return capture::LeftAlone::collective;
  // While any stream is being recorded, calls that synchronize would spoil the recording, also from other threads.
  if (captures_active_ > 0) return capture::LeftAlone::captured;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (driver_.cuStreamIsCapturing(call.stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE) {
    return capture::LeftAlone::captured;
  }
  return capture::LeftAlone::none;
}

void Session::begin(Measuring measuring, const LaunchCall& call, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  measuring.since = Clock::now();
  measuring.record.start_unix_ns = unix_now_ns();
  measuring.record.thread_id = static_cast<std::uint32_t>(gettid());
  thread.ours = true;
  const std::lock_guard lock(mutex_);
  --waiting_;
  try {
    const cupti::CurrentContext current(driver_, data.context);
    std::tie(measuring.replay, measuring.record.metric_set) = replay_for(data.context, measuring.record.key.device);
    measuring.replay->begin(call);
    thread.measuring = std::move(measuring);
  } catch (const std::exception& error) {
    give_up(measuring, error);
    if (measuring.replay == nullptr) measuring_ = false;  // counters cannot be set up: nor will they be next time
    replays_.erase(data.context);                         // ends whatever state the failure left in the context
  }
  thread.ours = false;
}

void Session::end(Measuring& measuring, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  auto& record = measuring.record;
  const std::lock_guard lock(mutex_);
  thread.ours = true;
  try {
    const cupti::CurrentContext current(driver_, data.context);
    record.values = measuring.replay->end();
  } catch (const std::exception& error) {
    give_up(measuring, error);
    replays_.erase(data.context);  // ends whatever state the failure left in the context
    thread.ours = false;
    return;
  }
  record.mode = capture::ReplayMode::kernel;
  record.cache_control = measuring.replay->caches();
  record.passes = static_cast<std::uint32_t>(measuring.replay->plan().passes);
  record.cost_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - measuring.since).count());
  failures_in_a_row_ = 0;
  recorder_.append(record);
  if (options_.keep_counters) keep_counters(record, measuring.replay->image());
  append_stats();
  if (selector_.exhausted() && waiting_ == 0) detach();
  thread.ours = false;
}

void Session::keep_counters(const capture::LaunchRecord& launch, std::span<const std::uint8_t> image) {
  Base& base = bases_[launch.metric_set];
  const bool builds_on_base = base.image.size() == image.size();
  recorder_.append(capture::RawCountersRecord{
      .launch_index = launch.index,
      .metric_set = launch.metric_set,
      .image_bytes = image.size(),
      .zstd_image = capture::pack_image(
          image, builds_on_base ? std::span<const std::uint8_t>(base.image) : std::span<const std::uint8_t>()),
      .base_launch_index = builds_on_base ? base.launch_index : capture::kNoBase});
  if (!builds_on_base) base = {launch.index, {image.begin(), image.end()}};
}

void Session::give_up(const Measuring& measuring, const std::exception& error) noexcept {
  ledger_.left_alone(measuring.entry, capture::LeftAlone::failed, true);
  const auto* ours = dynamic_cast<const Error*>(&error);
  recorder_.note(capture::Severity::error,
                 ours != nullptr ? std::string("a kernel could not be measured: ") + error.what() : error.what(),
                 ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
  if (++failures_in_a_row_ >= kFailuresToStop) measuring_ = false;
}

std::uint32_t Session::device_of(CUcontext context) {
  if (const auto known = context_devices_.find(context); known != context_devices_.end()) return known->second;
  if (context_devices_.empty() && devices_.empty()) register_exit_handlers();
  const cupti::CurrentContext current(driver_, context);
  CUdevice device = 0;
  cupti::check(driver_, driver_.cuCtxGetDevice(&device), "cuCtxGetDevice");
  const auto index = static_cast<std::uint32_t>(device);
  if (!devices_.contains(index)) {
    auto record = cupti::read_device(driver_, device, cupti::chip_name(library_, index));
    recorder_.append(record);
    devices_.emplace(index, std::move(record));
  }
  context_devices_.emplace(context, index);
  return index;
}

std::pair<KernelReplay*, std::uint32_t> Session::replay_for(CUcontext context, std::uint32_t device) {
  counters_used_at_ = launches_.load();
  for (auto& [other, held] : replays_) {
    if (other != context && held.replay != nullptr) held.replay->release_counters();  // a GPU's counters have one user
  }
  auto& [replay, metric_set] = replays_[context];
  if (replay == nullptr) {
    if (metric_sets_ == 0) cupti::initialize_profiler(library_);
    const auto& record = devices_.at(device);
    replay = std::make_unique<KernelReplay>(library_, driver_, context, record.chip, options_.metrics, options_.cache_control,
                                            record.l2_bytes);
    metric_set = ++metric_sets_;
    recorder_.append(capture::MetricSetRecord{.id = metric_set,
                                              .device = device,
                                              .passes = static_cast<std::uint32_t>(replay->plan().passes),
                                              .metrics = replay->plan().metrics,
                                              .unavailable = replay->unavailable()});
  }
  return {replay.get(), metric_set};
}

// The caller holds the gate alone.
void Session::release_counters() noexcept {
  const std::lock_guard lock(mutex_);
  this_thread().ours = true;
  for (auto& [context, held] : replays_) {
    if (held.replay != nullptr) held.replay->release_counters();
  }
  this_thread().ours = false;
  counters_used_at_ = 0;
}

// --- Ending -----------------------------------------------------------------------------------------------------------

// What is done only now and then, as it costs something. The caller holds mutex_.
void Session::look_around(std::uint64_t launch) {
  if (Clock::now() - stats_appended_ > kStatsInterval) append_stats();
  if (launch >= next_window_ && !timing_) {
    this_thread().ours = true;
    start_timing();
    this_thread().ours = false;
  }
}

void Session::append_stats() {
  stats_appended_ = Clock::now();
  if (auto changes = ledger_.changes(timing_complete_)) recorder_.append(*changes);
}

void Session::start_timing() {
  next_window_ = launches_ == 0 ? kSecondWindow : next_window_ * kWindowGrowth;
  const bool all = options_.collect == capture::Collect::none;  // what is asked for is times
  timing_ends_ = all ? std::numeric_limits<std::uint64_t>::max() : launches_ + kTimedLaunches;
  try {
    cupti::KernelActivity::enable(library_, [this](const cupti::KernelTime& time) { ledger_.add_time(time); });
    timing_ = true;
  } catch (const Error& error) {
    timing_complete_ = false;
    next_window_ = std::numeric_limits<std::uint64_t>::max();
    recorder_.note(capture::Severity::warning, "kernels cannot be timed, so GPU time left unmatched is not known", error.detail(),
                   error.remedy());
  }
}

void Session::stop_timing() {
  if (!timing_.exchange(false)) return;
  timing_complete_ = false;
  this_thread().ours = true;
  cupti::KernelActivity::disable();
  cupti::KernelActivity::flush(false);
  this_thread().ours = false;
}

// Nothing can be selected any more: give the program its full speed back. The caller holds the gate alone, and no other
// launch waits to be measured: its exit callback would not come any more.
void Session::detach() {
  measuring_ = false;
  active_ = false;
  replays_.clear();
  watch(false);
  cupti::KernelActivity::disable();
  cupti::KernelActivity::flush(true);
}

void Session::register_exit_handlers() {
  // Registered late, when the program has a context, so that it runs before the handlers that take CUDA down.
  std::atexit([] { g_session->finish(); });
}

void Session::finish() noexcept {
  const bool was_active = active_.exchange(false);
  if (!recorder_.usable()) return;
  this_thread().ours = true;
  try {
    cupti::KernelActivity::flush(true);
    timing_complete_ = timing_complete_ && was_active;  // else the end of the program was not timed
    append_stats();
    recorder_.append(capture::EndRecord{unix_now_ns(), launches_});
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Session::fail(const std::exception& error) noexcept {
  active_ = false;
  measuring_ = false;
  const auto* ours = dynamic_cast<const Error*>(&error);
  recorder_.note(capture::Severity::error, std::string("profiling has ended, the program runs on: ") + error.what(),
                 ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
  // Callbacks stay on: launches that are under way in other threads leave the gate at their exit.
  auto& thread = this_thread();
  thread.ours = true;  // taking the counters down calls the driver
  try {
    const std::lock_guard lock(mutex_);
    // Who is not in a launch cannot know that no other thread is measuring with them.
    if (thread.gate != Thread::Gate::none) replays_.clear();
    timing_complete_ = false;
    if (timing_.exchange(false)) cupti::KernelActivity::disable();
  } catch (const std::exception&) {  // the first failure is what counts
  }
}

}  // namespace dlkprof::inject
