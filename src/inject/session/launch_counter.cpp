#include "inject/session/launch_counter.h"

#include <utility>

#include "cupti/range_profiler.h"
#include "inject/session/loop_watch.h"
#include "inject/timeline/resource_names.h"

namespace dlkprof::inject {

LaunchCounter::LaunchCounter(const capture::ProfileOptions& options, const cupti::Library& library, const cupti::Driver& driver,
                             Recorder& recorder, NvtxScopes* scopes, std::function<void()> on_first_context)
    : options_(options),
      library_(library),
      driver_(driver),
      recorder_(recorder),
      scopes_(scopes),
      on_first_context_(std::move(on_first_context)),
      selector_(select::Selector::compile(options.selection)),
      range_open_(options.profile_from_start),
      only_counts_((options.collect == capture::Collect::none || options.collect == capture::Collect::sample) &&
                   selector_.goes_by_name_and_device() && options.profile_from_start && options.delay_seconds <= 0 &&
                   options.duration_seconds <= 0),
      functions_(selector_, [this](const capture::FunctionRecord& record) { on_new_function(record); }) {}

void LaunchCounter::on_new_function(const capture::FunctionRecord& record) {
  recorder_.append(record);
  if (selector_.limit_exceeded()) {
    recorder_.note(capture::Severity::warning,
                   "a pattern of the selector takes too long on some kernel names, which count as not matched", "",
                   "Write the pattern without nested repetition such as (a+)+.");
  }
}

bool LaunchCounter::selecting() const {
  if (!range_open_) return false;
  if (options_.delay_seconds <= 0 && options_.duration_seconds <= 0) return true;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  if (elapsed < options_.delay_seconds) return false;
  return options_.duration_seconds <= 0 || elapsed < options_.delay_seconds + options_.duration_seconds;
}

// PyTorch asks for up to 11 rounds before a capture (its notes on CUDA graphs, DistributedDataParallel). Where launches never
// come again no rounds are counted, so that their number decides: some 50 steps of a large model.
bool LaunchCounter::past_warm_up() {
  constexpr std::uint64_t kRounds = 16, kLaunches = 50'000;
  if (!past_warm_up_) past_warm_up_ = launches() >= kLaunches || rounds_of(ledger_.launches()) >= kRounds;
  return past_warm_up_;
}

bool LaunchCounter::count_known(CUcontext context, CUfunction function, ThreadState& thread) noexcept {
  const auto known = thread.counters.find(context, function, functions_.epoch());
  if (known.counter == nullptr || is_time_to_poll(launches_.load(std::memory_order_relaxed))) return false;
  known.counter->fetch_add(1, std::memory_order_relaxed);
  thread.call.launch_index = launches_.fetch_add(1, std::memory_order_relaxed);
  thread.call.function = known.function;
  return true;
}

Launch LaunchCounter::count(const LaunchCall& call, const CUpti_CallbackData& data, ThreadState& thread) {
  std::unique_lock lock(mutex_);
  const std::uint64_t epoch = functions_.epoch();
  const KernelFunction& function = function_of(call, data.symbolName, lock);
  const auto identity = identify(call, data, function);
  const auto verdict = selecting() ? selector_.decide(function.match, identity) : select::Verdict::unmatched;
  const auto line = ledger_.launched(identity.key, function.match, verdict != select::Verdict::unmatched);
  const std::uint64_t index = launches_++;
  thread.call.launch_index = index;
  thread.call.function = function.record.id;
  const bool is_only_counted = function.match == select::NameMatch::yes
                                   ? only_counts_
                                   : options_.selection.launch_skip_before_match == 0 && !function.delays;
  if (is_only_counted) {
    const bool of_other_device = verdict == select::Verdict::unmatched && function.match == select::NameMatch::yes;
    const auto names = of_other_device ? select::NameMatch::no : function.match;
    thread.counters.put(data.context, call.function, epoch, {ledger_.counter(line.entry, names), function.record.id});
  }
  return {.call = call,
          .data = data,
          .function = &function,
          .device = &devices_.at(identity.key.device),
          .entry = line.entry,
          .verdict = verdict,
          .record = {.index = index,
                     .key = identity.key,
                     .occurrence = static_cast<std::uint32_t>(line.occurrence),
                     .context_id = identity.context_id,
                     .stream_id = identity.stream_id}};
}

// The driver is asked without the lock: it may load the function's module only now, and call back on this thread, or wait for
// another that is in a callback.
const KernelFunction& LaunchCounter::function_of(const LaunchCall& call, const char* symbol, std::unique_lock<std::mutex>& lock) {
  if (const KernelFunction* known = functions_.find(call.function)) return *known;
  lock.unlock();
  auto record = cupti::read_function(driver_, call.function, symbol != nullptr ? symbol : "");
  const auto cluster = cupti::compiled_cluster(driver_, call.function);
  lock.lock();
  return functions_.add(call.function, std::move(record), cluster);
}

// What filters look at. For functions whose name no filter takes, or where nothing is measured, launch configurations are not
// told apart, and no calls are made: that keeps the launch path of all other kernels short.
select::LaunchIdentity LaunchCounter::identify(const LaunchCall& call, const CUpti_CallbackData& data,
                                               const KernelFunction& function) {
  select::LaunchIdentity launch;
  launch.key = {.device = find_device(data.context), .function = function.record.id};
  launch.name_id = function.name_id;
  if (function.match != select::NameMatch::yes || only_counts_) return launch;
  launch.key.grid = call.grid;
  launch.key.block = call.block;
  launch.key.cluster = cluster_of(call, function);
  launch.key.dynamic_shared_bytes = call.dynamic_shared_bytes;
  launch.context_id = data.contextUid;
  DLKPROF_CUPTI(library_, cuptiGetStreamIdEx, data.context, call.stream, call.per_thread_stream ? 1 : 0, &launch.stream_id);
  if (selector_.needs_resource_names()) {
    launch.context_name = resource_name(data.context);
    launch.stream_name = resource_name(call.stream);
  }
  if (scopes_ != nullptr) launch.in_ranges = scopes_->takes_launch();
  return launch;
}

const capture::DeviceRecord& LaunchCounter::device_of(CUcontext context) {
  const std::lock_guard lock(mutex_);
  return devices_.at(find_device(context));
}

std::uint32_t LaunchCounter::find_device(CUcontext context) {
  if (const auto known = context_devices_.find(context); known != context_devices_.end()) return known->second;
  if (context_devices_.empty() && devices_.empty()) on_first_context_();
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

void LaunchCounter::append_counts(bool timing_complete) {
  counts_appended_ = std::chrono::steady_clock::now();
  if (auto changes = ledger_.changes(timing_complete)) recorder_.append(*changes);
}

bool LaunchCounter::append_counts_if_due(bool timing_complete) {
  constexpr auto kInterval = std::chrono::seconds(1);  // so that little is lost when the process is killed
  if (std::chrono::steady_clock::now() - counts_appended_.load() <= kInterval) return false;
  append_counts(timing_complete);
  return true;
}

void LaunchCounter::context_ends(CUcontext context) {
  functions_.forget_handles();
  const std::lock_guard lock(mutex_);
  context_devices_.erase(context);
}

void LaunchCounter::forget_handles() {
  const std::lock_guard lock(mutex_);
  functions_.forget_handles();
  context_devices_.clear();
}

}  // namespace dlkprof::inject
