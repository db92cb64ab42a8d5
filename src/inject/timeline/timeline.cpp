#include "inject/timeline/timeline.h"

#include <algorithm>

#include "inject/timeline/ranges.h"

namespace dlkprof::inject {

capture::ActivityEvent untimed_activity(const capture::LaunchRecord& launch, std::uint32_t correlation) {
  return {.kind = capture::ActivityKind::kernel,
          .correlation = correlation,
          .device = launch.key.device,
          .context = launch.context_id,
          .stream = launch.stream_id,
          .grid = launch.key.grid,
          .block = launch.key.block,
          .cluster = launch.key.cluster,
          .dynamic_shared_bytes = launch.key.dynamic_shared_bytes};
}

[[gnu::hot, gnu::flatten]] void Timeline::begin(OpenCall& call) noexcept {
  call.range = current_range();
  call.start_ns = event_clock_ns();
}

[[gnu::hot]] void Timeline::end(OpenCall& call, std::uint32_t thread, CUpti_CallbackId id,
                                const CUpti_CallbackData& data) noexcept {
  if (call.start_ns == 0) return;
  const std::int64_t now = std::max(event_clock_ns(), call.start_ns);
  if (call.start_ns < since_ns_.load(std::memory_order_relaxed)) {  // of another call, whose end was not told
    call = {};
    return;
  }
  const std::uint32_t correlation = correlation_base_.load(std::memory_order_relaxed) + data.correlationId;
  if (resumes_) last_correlation_.store(correlation, std::memory_order_relaxed);
  const auto fill = [&](capture::CallEvent& event) {
    event = {.correlation = correlation,
             .thread = thread,
             .range = call.range,
             .name = name_of(id, data.functionName),
             .start_ns = call.start_ns,
             .end_ns = now,
             .launch_index = call.launch_index,
             .function = call.function,
             .held = call.held};
  };
  EventLog::Buffer* const buffer = log_.own_buffer();
  if (buffer == nullptr || !log_.add_to(buffer->calls, {}, fill)) [[unlikely]] {
    capture::CallEvent event;
    fill(event);
    log_.add(event);  // which counts what it leaves out
  }
  call = {};
}

void Timeline::add(capture::ActivityEvent event, const char* kernel) noexcept {
  if (kernel != nullptr) event.name = log_.intern(kernel);
  event.correlation += correlation_base_.load(std::memory_order_relaxed);
  if (resumes_ && event.end_ns != 0) has_work_.store(true, std::memory_order_relaxed);
  log_.add(event);
}

void Timeline::resume() noexcept {
  // Threads end their calls in any order.
  constexpr std::uint32_t kMostThreads = 1U << 16U;
  correlation_base_.store(last_correlation_.load(std::memory_order_relaxed) + kMostThreads, std::memory_order_relaxed);
  has_work_.store(false, std::memory_order_relaxed);
  since_ns_.store(event_clock_ns(), std::memory_order_relaxed);
}

[[gnu::hot]] std::uint32_t Timeline::name_of(CUpti_CallbackId id, const char* name) noexcept {
  if (id >= names_.size() || name == nullptr) return 0;
  auto& known = names_[id];
  if (known.load(std::memory_order_relaxed) == 0) known.store(log_.intern(name), std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed);
}

}  // namespace dlkprof::inject
