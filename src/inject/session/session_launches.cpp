// The session's launch path: counting launches, deciding on them, and having the selected ones measured.
#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "capture/encoding.h"
#include "inject/session/resource_names.h"
#include "inject/session/session.h"
#include "inject/session/session_thread.h"
#include "inject/session/system_facts.h"

namespace dlkprof::inject {
namespace {

using Clock = std::chrono::steady_clock;

// Looking at the clock in every launch would cost as much as the rest of counting it.
constexpr std::uint64_t kLaunchesBetweenLooks = 1024;
// After so many launches in a row that could not be measured the next will not be either.
constexpr int kFailuresToStop = 3;

}  // namespace

bool Session::window_open() const {
  if (!range_open_) return false;
  if (options_.delay_seconds <= 0 && options_.duration_seconds <= 0) return true;
  const double elapsed = std::chrono::duration<double>(Clock::now() - started_).count();
  if (elapsed < options_.delay_seconds) return false;
  return options_.duration_seconds <= 0 || elapsed < options_.delay_seconds + options_.duration_seconds;
}

// Most launches of most programs: of a function whose launches are only counted, and that the thread knows. False, and nothing
// done, where it does not, or it is time for a look around.
bool Session::count_known(CUcontext context, CUfunction function, Thread& thread) noexcept {
  const auto known = thread.counters.find(context, function, functions_.epoch());
  if (known.counter == nullptr || launches_.load(std::memory_order_relaxed) % kLaunchesBetweenLooks == 0) return false;
  known.counter->fetch_add(1, std::memory_order_relaxed);
  thread.call.launch_index = launches_.fetch_add(1, std::memory_order_relaxed);
  thread.call.function = known.function;
  return true;
}

// When nothing else is to be done.
bool Session::count_quickly(const LaunchCall& call, CUcontext context, Thread& thread) {
  if (pc_sampling_ && !thread.sampled.contains(context, functions_.epoch())) return false;
  return !timing_.load(std::memory_order_relaxed) && count_known(context, call.function, thread);
}

// The same from a callback, with the times of the call; or those alone of a call that is no launch. False where more is to be
// done; nothing is done then.
[[gnu::hot]] bool Session::on_quick_call(CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept {
  CUfunction function = function_of_launch(id, data.functionParams);
  Thread* const thread = Thread::own.last();
  if (thread == nullptr || thread->ours || thread->call.held || (function == nullptr && !is_only_timed(id))) return false;
  if (data.callbackSite == CUPTI_API_EXIT) {
    timeline_.end(thread->call, thread->system_id, id, data);
    return true;
  }
  if (function != nullptr && !count_known(data.context, function, *thread)) return false;
  Timeline::begin(thread->call);
  return true;
}

// The driver is asked without the lock: it may load the function's module only now, and call back on this thread, or wait for
// another that is in a callback.
const KernelFunction& Session::function_of(const LaunchCall& call, const char* symbol, std::unique_lock<std::mutex>& lock) {
  if (const KernelFunction* known = functions_.find(call.function)) return *known;
  lock.unlock();
  auto record = cupti::read_function(driver_, call.function, symbol != nullptr ? symbol : "");
  lock.lock();
  return functions_.add(call.function, std::move(record));
}

Session::Counted Session::count(const LaunchCall& call, const CUpti_CallbackData& data) {
  std::unique_lock lock(mutex_);
  const std::uint64_t epoch = functions_.epoch();
  const KernelFunction& function = function_of(call, data.symbolName, lock);
  const auto identity = identify(call, data, function);
  const auto verdict = window_open() ? selector_.decide(function.match, identity) : select::Verdict::unmatched;
  const auto line = ledger_.launched(identity.key, function.match, verdict != select::Verdict::unmatched);
  const std::uint64_t index = launches_++;
  if (verdict != select::Verdict::unmatched || function.match == select::NameMatch::near) time_from(index);
  if (index % kLaunchesBetweenLooks == 0) look_around(index);
  auto& thread = this_thread();
  thread.call.launch_index = index;
  thread.call.function = function.record.id;

  Counted counted{.entry = line.entry,
                  .record = {.index = index,
                             .key = identity.key,
                             .occurrence = static_cast<std::uint32_t>(line.occurrence),
                             .context_id = identity.context_id,
                             .stream_id = identity.stream_id}};
  windows_forbidden_ = windows_forbidden_ || forbids_windows(function);
  counted.captured = (iterating_ || verdict == select::Verdict::selected) && is_captured(call);
  if (verdict == select::Verdict::selected) choose_way(counted, call, function);
  if (timing_.load(std::memory_order_relaxed)) {
    ledger_.expect_time(data.correlationId, counted.entry);
  } else if (function.match != select::NameMatch::yes ? options_.selection.launch_skip_before_match == 0 : only_counts_) {
    const bool of_other_device = verdict == select::Verdict::unmatched && function.match == select::NameMatch::yes;
    const auto names = of_other_device ? select::NameMatch::no : function.match;
    thread.counters.put(data.context, call.function, epoch, {ledger_.counter(counted.entry, names), function.record.id});
  }
  return counted;
}

// How a launch that is selected may be measured; where it may not, the ledger is told why. Replay mode auto: the first launch
// of a configuration is replayed, and what is wanted beyond that, or must not be replayed, is measured in windows.
void Session::choose_way(Counted& counted, const LaunchCall& call, const KernelFunction& function) {
  using capture::Collect;
  using capture::SkipReason;
  if (options_.collect == Collect::none) return;
  if (options_.collect == Collect::sample) return sample(counted.record.key.device);
  if (counted.captured) return ledger_.skipped(counted.entry, SkipReason::captured, false);
  const bool has_windows = options_.collect != Collect::kernel && !iterations_over_ && !windows_forbidden_;
  const std::uint64_t samples = options_.samples.value_or(RunScheduler::kAll);
  SkipReason against = function.collective ? SkipReason::collective : SkipReason::none;
  if (options_.collect == Collect::iteration) {
    if (has_windows) counted.samples_in_windows = samples;
  } else {
    against = reason_against_replay(call, function);
    counted.replayed = against == SkipReason::none;
    if (has_windows && against != SkipReason::failed) {
      counted.samples_in_windows = counted.replayed && samples != RunScheduler::kAll ? samples - 1 : samples;
    }
  }
  const bool is_skipped = !counted.replayed && counted.samples_in_windows == 0 && against != SkipReason::none;
  if (is_skipped) ledger_.skipped(counted.entry, against, false);
}

// In a window the program waits for each launch. Kernels that wait for those of another GPU, which the same process launches,
// would do so for ever: there are no windows from the first of them on. What nobody asked for takes no risk: in replay mode
// auto there are none beside any collective, as other processes may wait for this one in ways that are not known.
bool Session::forbids_windows(const KernelFunction& function) const {
  if (options_.collect == capture::Collect::automatic) return function.collective || devices_.size() > 1;
  if (options_.collect != capture::Collect::iteration || !function.collective) return false;
  return devices_.size() > 1 || cupti::devices_in_use(driver_) > 1;
}

// Of each configuration, by replays; none: of all launches. Where windows ended as time was used up no more is taken.
std::optional<std::uint64_t> Session::samples_of_replays() const {
  return options_.collect == capture::Collect::automatic && !windows_forbidden_ ? 1 : options_.samples;
}

// None where no further launch of its configuration is wanted.
std::optional<Session::Measuring> Session::take_sample(const Counted& counted) {
  if (!counted.replayed || !measuring_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!ledger_.take_sample(counted.entry, samples_of_replays())) return std::nullopt;
  ++waiting_;
  Measuring measuring;
  measuring.entry = counted.entry;
  measuring.record = counted.record;
  return measuring;
}

// What filters look at. For functions whose name no filter takes, or where nothing is measured, launch configurations are not
// told apart, and no calls are made: that keeps the launch path of all other kernels short.
select::LaunchIdentity Session::identify(const LaunchCall& call, const CUpti_CallbackData& data, const KernelFunction& function) {
  select::LaunchIdentity launch;
  launch.key = {.device = device_of(data.context), .function = function.record.id};
  launch.name_id = function.name_id;
  if (function.match != select::NameMatch::yes || only_counts_) return launch;
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

// Its stream is being recorded into a graph; or any is: calls that synchronize would spoil that, also from other threads.
bool Session::is_captured(const LaunchCall& call) const {
  if (captures_active_ > 0) return true;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver_.cuStreamIsCapturing(call.stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

capture::SkipReason Session::reason_against_replay(const LaunchCall& call, const KernelFunction& function) const {
  if (call.cooperative) return capture::SkipReason::cooperative;
  if (function.collective) return capture::SkipReason::collective;
  return measuring_ ? capture::SkipReason::none : capture::SkipReason::failed;
}

void Session::begin(Measuring measuring, const LaunchCall& call, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  measuring.since = Clock::now();
  measuring.record.start_unix_ns = unix_now_ns();
  measuring.record.thread_id = static_cast<std::uint32_t>(gettid());
  thread.ours = true;
  const std::lock_guard lock(mutex_);
  --waiting_;
  have_iterations(&IterationReplay::release_counters);  // a GPU's counters have one user
  try {
    const cupti::CurrentContext current(driver_, data.context);
    std::tie(measuring.replay, measuring.record.metric_set) = replay_for(data.context, measuring.record.key.device);
    measuring.replay->begin(call);
    const bool timed =
        measuring.replay->caches() == capture::CacheControl::all;  // as the program's own launch comes after the passes
    if (options_.timeline && !timed) timeline_.add(untimed_activity(measuring.record, data.correlationId), data.symbolName);
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
  if (selector_.exhausted() && waiting_ == 0 && !options_.timeline) detach();
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
  ledger_.skipped(measuring.entry, capture::SkipReason::failed, true);
  const auto* ours = dynamic_cast<const Error*>(&error);
  recorder_.note(capture::Severity::error, std::string("a kernel could not be measured: ") + error.what(),
                 ours != nullptr ? ours->detail() : "", ours != nullptr ? ours->remedy() : "");
  if (++failures_in_a_row_ >= kFailuresToStop) measuring_ = false;
}

std::uint32_t Session::device_of(CUcontext context) {
  if (const auto known = context_devices_.find(context); known != context_devices_.end()) return known->second;
  if (context_devices_.empty() && devices_.empty()) {
    register_exit_handlers();
    if (options_.timeline) {
      recorder_.append(clock_);
      for (capture::Fact& fact : system_facts()) event_log_.add(std::move(fact));
    }
  }
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
  release_replays();
  this_thread().ours = false;
}

void Session::release_replays() noexcept {
  for (auto& [context, held] : replays_) {
    if (held.replay != nullptr) held.replay->release_counters();
  }
  counters_used_at_ = 0;
}

}  // namespace dlkprof::inject
