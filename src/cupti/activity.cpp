#include "cupti/activity.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace dlkprof::cupti {
namespace {

constexpr std::size_t kBufferBytes = 1U << 20;

struct State {
  const Library* library = nullptr;
  std::function<void(const KernelTime&)> on_kernel;
  std::mutex mutex;
  std::atomic<bool> enabled{false};
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

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) noexcept {
  {
    const std::lock_guard lock(state().mutex);
    CUpti_Activity* record = nullptr;
    while (state().on_kernel && state().library->cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record->kind != CUPTI_ACTIVITY_KIND_KERNEL) continue;
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      // 0 stands for a time that CUPTI did not take (cupti_activity.h), as of a launch that was being profiled.
      const bool timed = kernel->start != 0 && kernel->end >= kernel->start;
      state().on_kernel({.correlation = kernel->correlationId,
                         .in_graph = kernel->graphNodeId != 0,
                         .gpu_ns = timed ? std::optional<std::uint64_t>(kernel->end - kernel->start) : std::nullopt});
    }
  }
  std::free(buffer);
}

}  // namespace

void KernelActivity::enable(const Library& library, std::function<void(const KernelTime&)> on_kernel) {
  {
    const std::lock_guard lock(state().mutex);
    state().library = &library;
    state().on_kernel = std::move(on_kernel);
  }
  static const bool registered = [&library] {
    DLKPROF_CUPTI(library, cuptiActivityRegisterCallbacks, request_buffer, take_buffer);
    return true;
  }();
  (void)registered;
  DLKPROF_CUPTI(library, cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  state().enabled = true;
}

void KernelActivity::disable() {
  if (!state().enabled.exchange(false)) return;
  DLKPROF_CUPTI(*state().library, cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

void KernelActivity::flush(bool forced) {
  if (state().library == nullptr) return;
  DLKPROF_CUPTI(*state().library, cuptiActivityFlushAll, forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

ActivityPause::ActivityPause() : paused_(state().enabled) {
  if (paused_) DLKPROF_CUPTI(*state().library, cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

ActivityPause::~ActivityPause() {
  // Failing to resume loses timings, of which coverage then shows fewer.
  if (paused_) (void)state().library->cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

}  // namespace dlkprof::cupti
