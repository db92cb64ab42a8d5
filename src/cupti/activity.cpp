#include "cupti/activity.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/event_clock.h"

namespace dlkprof::cupti {
namespace {

constexpr std::size_t kBufferBytes = 1U << 20;
// Left to itself CUPTI may keep records until the end, which a program that is killed does not reach.
constexpr std::uint32_t kFlushMilliseconds = 1000;
constexpr CUpti_ActivityKind kMemoryKinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                               CUPTI_ACTIVITY_KIND_MEMSET};

struct State {
  const Library* library = nullptr;
  OnWork on_activity;
  std::mutex mutex;
  bool registered = false;
  std::atomic<bool> enabled{false};
  std::atomic<int> pauses{0};
  std::atomic<bool> with_memory{false};
  // Correlations of the last kernels outside of graphs, each in its slot. As many as two buffers may hold, since they may come
  // in another order than they were filled.
  std::array<std::uint32_t, std::size_t{1} << 16U> launches{};
};

// Never destroyed: CUPTI's thread may deliver a buffer while the process exits.
State& state() {
  static State& instance = *new State;
  return instance;
}

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) noexcept {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *max_records = 0;
}

// What all records have.
template <typename Record>
capture::ActivityEvent common_part(const Record& record, capture::ActivityKind kind) {
  capture::ActivityEvent event;
  event.kind = kind;
  event.correlation = record.correlationId;
  // 0 stands for a time that CUPTI did not take (cupti_activity.h), as of a launch that was being profiled.
  if (record.start != 0 && record.end >= record.start) {
    event.start_ns = static_cast<std::int64_t>(record.start);
    event.end_ns = static_cast<std::int64_t>(record.end);
  }
  event.device = record.deviceId;
  event.context = record.contextId;
  event.stream = record.streamId;
  event.graph_node = record.graphNodeId;
  return event;
}

capture::Dim3 dim(std::int32_t x, std::int32_t y, std::int32_t z) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
}

// In a window of the range profiler CUPTI runs a kernel of its own behind each of the program's (1 thread, 80 us, seen with
// CUDA 13.0), and tells of it as if it were the same launch once more.
bool is_of_cupti(const CUpti_ActivityKernel10& record) {
  if (record.graphNodeId != 0) return false;
  auto& slot = state().launches[record.correlationId % state().launches.size()];
  return std::exchange(slot, record.correlationId) == record.correlationId && record.correlationId != 0;
}

void take_kernel(const CUpti_ActivityKernel10& record) {
  if (is_of_cupti(record)) return;
  auto event = common_part(record, capture::ActivityKind::kernel);
  event.grid = dim(record.gridX, record.gridY, record.gridZ);
  event.block = dim(record.blockX, record.blockY, record.blockZ);
  // All 0 where the launch names no cluster.
  if (record.clusterX != 0) event.cluster = {record.clusterX, record.clusterY, record.clusterZ};
  event.dynamic_shared_bytes = static_cast<std::uint32_t>(record.dynamicSharedMemory);
  state().on_activity(event, record.name);
}

void take_copy(const CUpti_ActivityMemcpy6& record) {
  auto event = common_part(record, capture::ActivityKind::copy);
  event.copy = static_cast<capture::CopyKind>(record.copyKind);
  event.bytes = record.bytes;
  state().on_activity(event, nullptr);
}

void take_peer_copy(const CUpti_ActivityMemcpyPtoP4& record) {
  auto event = common_part(record, capture::ActivityKind::copy);
  event.copy = capture::CopyKind::ptop;
  event.bytes = record.bytes;
  state().on_activity(event, nullptr);
}

void take_set(const CUpti_ActivityMemset4& record) {
  auto event = common_part(record, capture::ActivityKind::set);
  event.bytes = record.bytes;
  state().on_activity(event, nullptr);
}

void take_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return take_kernel(reinterpret_cast<const CUpti_ActivityKernel10&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return take_copy(reinterpret_cast<const CUpti_ActivityMemcpy6&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return take_peer_copy(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return take_set(reinterpret_cast<const CUpti_ActivityMemset4&>(record));
    default:
      return;
  }
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) noexcept {
  {
    const std::lock_guard lock(state().mutex);
    CUpti_Activity* record = nullptr;
    while (state().on_activity && state().library->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      take_record(*record);
    }
  }
  std::free(buffer);
}

// All that were asked for; the first failure.
CUptiResult switch_kinds(bool on) {
  const Library& library = *state().library;
  const auto act = on ? library.cuptiActivityEnable : library.cuptiActivityDisable;
  CUptiResult result = act(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (!state().with_memory) return result;
  for (const auto kind : kMemoryKinds) {
    const CUptiResult next = act(kind);
    if (result == CUPTI_SUCCESS) result = next;
  }
  return result;
}

void register_callbacks(const Library& library) {
  // Before the first kind is enabled, or CUPTI keeps to its own clock.
  DLKPROF_CUPTI(library, cuptiActivityRegisterTimestampCallback, [] { return static_cast<std::uint64_t>(event_clock_ns()); });
  DLKPROF_CUPTI(library, cuptiActivityRegisterCallbacks, request_buffer, take_buffer);
  DLKPROF_CUPTI(library, cuptiActivityFlushPeriod, kFlushMilliseconds);
}

}  // namespace

void Activity::enable(const Library& library, Scope scope, OnWork on_activity) {
  {
    const std::lock_guard lock(state().mutex);
    state().library = &library;
    state().on_activity = std::move(on_activity);
  }
  if (!state().registered) register_callbacks(library);
  state().registered = true;
  state().with_memory = scope == Scope::kernels_and_memory;
  if (state().pauses == 0) check(library, switch_kinds(true), "cuptiActivityEnable");
  state().enabled = true;
}

void Activity::disable() {
  if (!state().enabled.exchange(false)) return;
  check(*state().library, switch_kinds(false), "cuptiActivityDisable");
}

void Activity::flush(bool forced) {
  if (state().library == nullptr) return;
  DLKPROF_CUPTI(*state().library, cuptiActivityFlushAll, forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void Activity::forget() noexcept {
  state().enabled = false;
  state().registered = false;
  const std::lock_guard lock(state().mutex);
  state().launches = {};  // correlations may begin anew
}

ActivityPause::ActivityPause() {
  if (state().pauses++ > 0 || !state().enabled) return;
  const CUptiResult result = switch_kinds(false);
  if (result == CUPTI_SUCCESS) return;
  --state().pauses;
  (void)switch_kinds(true);
  check(*state().library, result, "cuptiActivityDisable");
}

ActivityPause::~ActivityPause() {
  // Failing to resume loses timings, of which coverage then shows fewer.
  if (--state().pauses == 0 && state().enabled) (void)switch_kinds(true);
}

}  // namespace dlkprof::cupti
