// The session's callbacks: which of the driver's calls it hears of, and what it does at their entries and exits.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/uncancelled.h"
#include "inject/session/session.h"
#include "inject/session/session_thread.h"

namespace dlkprof::inject {
namespace {

// Counters that are held slow every launch; taking them again costs some 10 ms. So they are given back after this many
// launches without a measurement.
constexpr std::uint64_t kIdleLaunches = 1000;
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

// --- Which they are ---------------------------------------------------------------------------------------------------

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
  const Uncancelled whole;
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
    if (measuring) ledger_.skipped(measuring->entry, capture::SkipReason::failed, true);
    thread.leave(gate_);
  } else if (measuring && captures_active_ > 0) {  // begun while this thread waited
    const std::lock_guard lock(mutex_);
    --waiting_;
    ledger_.skipped(measuring->entry, capture::SkipReason::captured, true);
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

}  // namespace dlkprof::inject
