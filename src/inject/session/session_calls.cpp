// The session's callbacks: what it does at the entries and exits of the driver's calls.
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/unnoticed.h"
#include "inject/session/heap_holes.h"
#include "inject/session/session.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject {
[[gnu::hot]] void Session::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept {
  auto& session = *static_cast<Session*>(self);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && session.quick_.load(std::memory_order_relaxed) &&
      session.on_quick_call(id, *static_cast<const CUpti_CallbackData*>(data))) {
    return;
  }
  const Unnoticed whole;
  auto& thread = this_thread();
  // The modules are the program's even where a call of ours has the driver load them.
  const bool loads = domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED;
  if (thread.ours && !loads) {
    if (thread.turn_graph_to != nullptr) turn_graph(thread.turn_graph_to, domain, id, data);
    return;
  }
  const CuptiAttachment::Callback inside(session.attachment_);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && is_launch(id) && session.attachment_.detaching()) return;
  try {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) session.on_driver_call(thread, id, *static_cast<const CUpti_CallbackData*>(data));
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) session.on_resource(thread, id, *static_cast<const CUpti_ResourceData*>(data));
  } catch (const std::exception& error) {
    session.fail(error);
    thread.collecting = false;
    thread.call = {};
    thread.leave(session.gate_);  // last: who comes next must find the counters taken down
  }
}

// Of a launch that is only counted, with the times of the call; or those alone of a call that is no launch. False where more is
// to be done; nothing is done then.
[[gnu::hot]] bool Session::on_quick_call(CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept {
  CUfunction function = function_of_launch(id, data.functionParams);
  ThreadState* const thread = ThreadState::own.last();
  if (thread == nullptr || thread->ours || thread->call.held || (function == nullptr && !calls_.is_only_timed(id))) return false;
  if (data.callbackSite == CUPTI_API_EXIT) {
    timeline_.end(thread->call, thread->system_id, id, data);
    return true;
  }
  if (function != nullptr && !counter_.count_known(data.context, function, *thread)) return false;
  Timeline::begin(thread->call);
  return true;
}

void Session::on_driver_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  auto& call = thread.call;
  if (!entry && !call.held) timeline_.end(call, thread.system_id, id, data);
  if (is_launch(id)) {
    if (!entry) {
      on_launch_exit(thread, id, data);
      if (call.held) timeline_.end(call, thread.system_id, id, data);
    } else if (active_.load(std::memory_order_relaxed)) {
      if (const auto launch = read_launch(id, data.functionParams)) on_launch_entry(thread, *launch, data);
      if (options_.timeline && !call.held && thread.nodes == nullptr) Timeline::begin(call);
    }
    return;
  }
  if (DriverCalls::launches_graph(id) && entry && active_) launch_by_nodes(thread, id, data);
  on_other_call(thread, id, data);
  if (!entry && call.held) timeline_.end(call, thread.system_id, id, data);
  if (entry && active_ && !call.held && calls_.is_timed(id) && thread.nodes == nullptr) Timeline::begin(call);
}

// Calls that change GPU memory, or run kernels that do, wait while a launch is being replayed: what they write between two
// passes would be undone when memory is restored. Of those that write or wait for values only the first does: from then on
// nothing is replayed, and a launch that is measured may wait for what they write.
void Session::on_other_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  const bool gated = calls_.is_gated(id);
  const bool values = entry && active_ && calls_.is_of_values(id);
  const bool waits = gated && entry && active_ && (!values || !services_.has_values());
  if (values) services_.saw_values();
  if (waits) {
    thread.enter_shared(gate_);
    if (!active_) thread.leave(gate_);  // ended while this thread waited: no exit callback may come
  }
  on_graph_call(thread, id, data);
  on_executable_graph(id, data);
  if (!entry && active_ && !is_refused(data)) on_event_call(thread, id, data);
  if (!options_.profile_from_start && DriverCalls::opens_or_closes_range(id) && !entry) {
    counter_.set_profiler_range(id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
  }
  if (!entry && gated && active_) {
    if (const auto bytes = allocated_bytes(id, data.functionParams)) {
      collecting([bytes](Collector& collector) { collector.allocated(bytes); });
    }
  }
  if (gated && !entry) thread.leave(gate_);
}

// What the program times between events is left alone. Of each cuEventRecord the event is the first parameter.
void Session::on_event_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  TimedLaunches& timed = services_.timed_launches();
  switch (calls_.of_event(id)) {
    case DriverCalls::OfEvent::creates: {
      const auto& params = *static_cast<const cuEventCreate_params*>(data.functionParams);
      return timed.created(*params.phEvent, params.Flags);
    }
    case DriverCalls::OfEvent::records:
      if (timed.is_timing(*static_cast<const CUevent*>(data.functionParams)))
        thread.launches_timed = TimedLaunches::kLaunchesAfterEvent;
      return;
    case DriverCalls::OfEvent::nothing:
      return;
  }
}

void Session::on_resource(const ThreadState& thread, CUpti_CallbackId id, const CUpti_ResourceData& data) {
  if (tells_of_graph(id) && data.resourceDescriptor != nullptr && active_) {
    graphs_.saw_graph();  // made with CUPTI's help, which stays
    return event_log_.graphs().on_resource(library_, id, *static_cast<const CUpti_GraphData*>(data.resourceDescriptor),
                                           thread.capture_range);
  }
  if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED && pc_sampling_) pc_sampling_->module_loaded(data);
  if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) counter_.module_ends();
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) on_context_end(data.context);
}

void Session::on_context_end(CUcontext context) {
  counter_.context_ends(context);
  const OwnCalls own;  // ending PC sampling and taking the counters down calls the driver
  graphs_.launches().context_ends(context);
  services_.vain_waits().forget();
  if (pc_sampling_) pc_sampling_->context_ends(context);
  collecting([context](Collector& collector) { collector.context_ends(context); });
}

// --- Launches ---------------------------------------------------------------------------------------------------------

void Session::on_launch_entry(ThreadState& thread, const LaunchCall& call, const CUpti_CallbackData& data) {
  if (collector_->takes_turns()) {
    thread.enter_shared(gate_);
    if (!active_) return thread.leave(gate_);  // ended while this thread waited: no exit callback will come
  }
  if (thread.hold != ThreadState::Hold::alone && count_quickly(call, data.context, thread)) return;
  Launch launch = count(call, data, thread);
  launch.timed = thread.nodes == nullptr && thread.launches_timed > 0;
  if (launch.timed) --thread.launches_timed;
  if (thread.nodes != nullptr) thread.nodes->kernels.push_back(launch.entry);
  if (pc_sampling_ && !thread.sampled.contains(data.context, counter_.epoch()) && !graphs_.is_captured(call)) {
    sample_pcs(data.context);
  }
  const bool wanted = wants(launch);
  if (thread.nodes != nullptr) launch.all_gpus = false;  // before the first node this GPU alone was waited for
  if (!wanted && thread.nodes != nullptr) return services_.add_untimed(launch);
  if (!wanted && !ending_.due && !ending_.detach_due) return;
  if (graphs_.capturing()) return leave_out(thread, launch, wanted);
  if (thread.hold != ThreadState::Hold::alone) services_.mark_overhead();
  if (const auto since = come_alone(thread, data.context, call.stream, launch.all_gpus)) {
    launch.alone_since = *since;
  } else {
    if (wanted) collecting([&](Collector& collector) { collector.skip(launch, capture::SkipReason::values); });
    thread.enter_shared(gate_);
    if (!active_) thread.leave(gate_);
    return;
  }
  if (!active_) {
    if (wanted) collecting([&](Collector& collector) { collector.skip(launch, capture::SkipReason::failed); });
    return thread.leave(gate_);
  }
  if (graphs_.capturing()) return leave_out(thread, launch, wanted);  // begun while this thread waited
  if (wanted) services_.measuring().begins(launch.function->record.mangled_name);
  thread.collecting = wanted && collecting([&](Collector& collector) { return collector.enter(launch); });
  if (wanted && !thread.collecting) services_.measuring().ends();
  if (thread.nodes == nullptr) return;
  if (thread.collecting) ++thread.nodes->measured;
  if (!thread.collecting) services_.add_untimed(launch);
}

bool Session::wants(Launch& launch) {
  if (!launch.function->delays) {
    return collecting([&](Collector& collector) {
      services_.saw(launch);
      return collector.wants(launch);
    });
  }
  services_.saw_delay();
  if (launch.selected()) {
    collecting([&](Collector&) { counter_.ledger().skipped(launch.entry, capture::SkipReason::values, false); });
  }
  return false;
}

// With the gate held alone and nothing left to do on the GPU (gpu_wait.h): since when. Others, whom what was launched may wait
// for, pass again and again meanwhile. Nothing where it could not be; the gate is then not held. Inside of a graph that is
// launched node by node it was so before the first.
std::optional<std::chrono::steady_clock::time_point> Session::come_alone(ThreadState& thread, CUcontext context, CUstream stream,
                                                                         bool all_gpus) {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kLongestHold(30);  // of others, who may set counters up, and replay a launch
  constexpr std::chrono::milliseconds kBetween(5);
  if (thread.nodes != nullptr) return steady_clock::now();
  thread.leave(gate_);
  VainWaits& vain = services_.vain_waits();
  if (vain.are_too_many()) return std::nullopt;
  GpuWait wait = services_.wait_for(context, all_gpus);
  while (thread.enter_alone(gate_, kLongestHold)) {
    const OwnCalls own(thread);
    const auto since = steady_clock::now();
    if (!active_ || graphs_.is_captured(stream)) return since;
    const bool delayed = services_.is_delayed(context, since);
    if (!delayed && wait.is_done()) return since;
    thread.leave(gate_);
    if (delayed) return std::nullopt;
    if (!wait.goes_on()) break;
    std::this_thread::sleep_for(kBetween);
  }
  if (wait.goes_on()) vain.add(nullptr);
  services_.tell_of_vain_waits();
  return std::nullopt;
}

// While a stream is captured, on whatever thread: closing a window, giving counters back and ending would end the capture, as
// measuring would. The next launch after it does them.
void Session::leave_out(ThreadState& thread, const Launch& launch, bool wanted) {
  if (wanted) collecting([&](Collector& collector) { collector.skip(launch, capture::SkipReason::captured); });
  if (thread.nodes != nullptr) services_.add_untimed(launch);
}

// When nothing else is to be done.
bool Session::count_quickly(const LaunchCall& call, CUcontext context, ThreadState& thread) {
  if (pc_sampling_ && !thread.sampled.contains(context, counter_.epoch())) return false;
  return !timing_.open() && counter_.count_known(context, call.function, thread);
}

Launch Session::count(const LaunchCall& call, const CUpti_CallbackData& data, ThreadState& thread) {
  Launch launch = counter_.count(call, data, thread);
  const bool is_near = launch.function->match == select::NameMatch::near;
  if (launch.verdict != select::Verdict::unmatched || is_near) timing_.begin_at(launch.record.index);
  if (LaunchCounter::is_time_to_poll(launch.record.index)) poll(launch);
  if (timing_.open()) counter_.ledger().expect_time(data.correlationId, launch.entry);
  return launch;
}

// What is done only now and then, as it costs something.
void Session::poll(const Launch& launch) {
  if (on_main_thread()) ending_.main_thread_polls = true;
  if (counter_.append_counts_if_due(timing_.complete()) && options_.timeline) event_log_.flush_soon();
  const bool done = collecting([&](Collector& collector) {
    timing_.poll(launch.record.index);
    if (ending_.loop.is_due(collector.is_settled(launch))) ending_.detach_due = true;
    return !graphs_.capturing() && collector.poll(launch);
  });
  if (done && !options_.timeline) ending_.due = true;
}

void Session::on_launch_exit(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (std::exchange(thread.collecting, false)) {
    services_.measuring().ends();
    const bool done = collecting([&](Collector& collector) { return collector.leave(data); });
    if (done && !options_.timeline) ending_.due = true;
  }
  if (thread.nodes != nullptr) return;  // the graph launch is not at its exit
  if (thread.hold == ThreadState::Hold::alone && (ending_.due || ending_.detach_due)) {
    if (const auto launch = read_launch(id, data.functionParams)) end(thread, data.context, launch->stream);
  }
  thread.leave(gate_);
  if (!active_.load(std::memory_order_relaxed)) return;
  if (attachment_.detach_is_due()) {
    const auto launch = read_launch(id, data.functionParams);
    if (launch && graphs_.is_captured(*launch)) graphs_.saw_graph();  // the capture began while CUPTI was away
    attachment_.detach_now();
  }
  timing_.end_if_due(counter_.launches());
}

// What cannot be done now the next launch tries, which comes alone for it.
void Session::end(ThreadState& thread, CUcontext context, CUstream stream) {
  if (!active_ || graphs_.capturing() || !come_alone(thread, context, stream, true) || !active_ || graphs_.is_captured(stream))
    return;
  if (ending_.due) end_early();
  if (ending_.detach_due && active_) detach();
  if (attachment_.has_left()) fill_heap_holes();
}

}  // namespace dlkprof::inject
