#include "inject/session/collector_services.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "cupti/range_profiler.h"
#include "inject/session/thread_state.h"

namespace dlkprof::inject {

void CollectorServices::use_profiler() {
  if (std::exchange(profiler_used_, true)) return;
  cupti::initialize_profiler(parts_.library);
}

void CollectorServices::mark_overhead() const {
  auto& call = this_thread().call;
  if (!parts_.options.timeline || call.held || this_thread().nodes != nullptr) return;
  Timeline::begin(call);
  call.held = true;
}

std::optional<capture::ActivityEvent> CollectorServices::untimed(const Launch& launch) const {
  if (!parts_.options.timeline) return std::nullopt;
  capture::ActivityEvent activity = untimed_activity(launch.record, launch.data.correlationId);
  if (const NodeLaunches* nodes = this_thread().nodes) {
    activity.correlation = nodes->graph_launch;
    activity.graph_node = nodes->node;
    activity.function = launch.function->record.id;
    activity.context = launch.data.contextUid;  // of kernels that nobody selects the record does not have these
    activity.grid = launch.call.grid;
    activity.block = launch.call.block;
    activity.cluster = cluster_of(launch.call, *launch.function);
    activity.dynamic_shared_bytes = launch.call.dynamic_shared_bytes;
  }
  return activity;
}

void CollectorServices::add_untimed(const Launch& launch) const {
  if (const auto activity = untimed(launch)) parts_.timeline.add(*activity, launch.data.symbolName);
}

void CollectorServices::add(const std::optional<capture::ActivityEvent>& untimed, const CUpti_CallbackData& exit) const {
  if (untimed && !is_refused(exit)) parts_.timeline.add(*untimed, exit.symbolName);
}

void CollectorServices::saw_values() {
  if (values_.exchange(true)) return;
  note_nothing_is_alone(
      "streams wait for values in memory (cuStreamWaitValue), and the call that writes one may be behind a launch that waits for "
      "them");
}

void CollectorServices::tell_of_vain_waits() {
  if (!vain_waits_.are_many()) return;
  note_nothing_is_alone(fmt::format(
      "{} times what was launched before was not done within some seconds, so it may wait for what the program does next (a "
      "kernel or a host function for a flag)",
      VainWaits::kMost));
}

void CollectorServices::tell_of_endless_launch(const std::string& mangled_name) const {
  const std::string kernel = function_base_name(demangle(mangled_name));
  const bool is_word = std::ranges::all_of(kernel, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  parts_.recorder.note(
      capture::Severity::warning,
      fmt::format("a launch of {} is still being measured after {} s", kernel, MeasuringWatch::kLongest.count()),
      "a kernel that waits for what the program does after launching it never ends then",
      fmt::format(
          "If the program stands still, end it (kill {}), and leave the kernel out with -k{}, or use --replay-mode sample, "
          "which measures without waiting.",
          getpid(), is_word ? fmt::format(" 'regex:^(?!{}$)'", kernel) : ""));
}

bool CollectorServices::is_delayed(CUcontext context, std::chrono::steady_clock::time_point now) const noexcept {
  constexpr std::chrono::milliseconds kUntilAsked(1);  // what was launched last may be done before the GPU can tell
  return now < delayed_until_.load() && !is_done(context, kUntilAsked);
}

GpuWait CollectorServices::wait_for(CUcontext context, bool all_gpus) noexcept {
  const auto first = has_several_gpus() ? GpuWait::kFirstOfSeveral : GpuWait::kFirst;
  return {parts_.driver, vain_waits_, context, all_gpus, first, waits_for_program()};
}

void CollectorServices::saw(const Launch& launch) {
  collectives_ = collectives_ || launch.function->collective;
  if (!first_device_) first_device_ = launch.device->index;
  if (*first_device_ != launch.device->index) several_gpus_ = true;  // contexts may be others than those asked for below
}

void CollectorServices::note_nothing_is_alone(const std::string& cause) {
  if (told_.exchange(true)) return;
  parts_.recorder.note(capture::Severity::warning, "kernels are not made alone any more, so they are not measured", cause,
                       "Use --replay-mode sample, which has no launch wait.");
}

// By primary contexts. What cannot be asked is taken to be so.
bool CollectorServices::has_several_gpus() noexcept {
  try {
    if (!several_gpus_ && cupti::devices_in_use(parts_.driver) > 1) several_gpus_ = true;
  } catch (const std::exception&) {
    several_gpus_ = true;
  }
  return several_gpus_;
}

// Where the process has several GPUs, a collective of one waits for launches for the others, which would wait for this one.
capture::SkipReason CollectorServices::reason_against(const Launch& launch) {
  using capture::SkipReason;
  if (parts_.graphs.is_captured(launch.call)) return SkipReason::captured;
  if (launch.call.cooperative) return SkipReason::cooperative;
  if (waits_for_program()) return SkipReason::values;
  const bool waits = launch.function->collective || (collectives_ && has_several_gpus());
  return waits ? SkipReason::collective : SkipReason::none;
}

std::uint32_t CollectorServices::record_metric_set(std::uint32_t device, const cupti::CollectionPlan& plan,
                                                   const std::vector<std::string>& unavailable) {
  parts_.recorder.append(capture::MetricSetRecord{.id = ++metric_sets_,
                                                  .device = device,
                                                  .passes = static_cast<std::uint32_t>(plan.passes),
                                                  .metrics = plan.metrics,
                                                  .unavailable = unavailable});
  return metric_sets_;
}

capture::LaunchRecord begun(capture::LaunchRecord record) {
  record.start_unix_ns = unix_now_ns();
  record.thread_id = this_thread().system_id;
  return record;
}

}  // namespace dlkprof::inject
