// Kernel activity records. Full buffers are handed over on a thread of CUPTI's own, as the real one does.
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <thread>

#include "common/journal.h"
#include "cupti/real.h"

namespace fakes {
namespace {

// Small, so that even a short test sees buffers come on the other thread.
constexpr std::size_t kRecordsPerBuffer = 64;

struct Activity {
  std::mutex mutex;
  std::condition_variable handed_over;
  int under_way = 0;  // buffers that threads of ours are handing over
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  bool enabled = false;
  std::uint64_t clock_ns = 1'000'000'000;
  std::vector<CUpti_ActivityKernel10> records;
};

Activity& activity() {
  static auto& instance = *new Activity;
  return instance;
}

// Asks the client for memory, fills it, and gives it back. No lock is held.
void hand_over(const std::vector<CUpti_ActivityKernel10>& records, CUpti_BuffersCallbackRequestFunc request,
               CUpti_BuffersCallbackCompleteFunc complete) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, limit = 0;
  request(&buffer, &size, &limit);
  const std::size_t bytes = records.size() * sizeof(records[0]);
  if (buffer == nullptr || size < bytes) return misuse("an activity buffer is missing or too small");
  std::memcpy(buffer, records.data(), bytes);
  complete(nullptr, 0, buffer, size, bytes);
}

// The activity's lock is held.
void hand_over_on_own_thread() {
  auto& state = activity();
  std::vector<CUpti_ActivityKernel10> records;
  records.swap(state.records);
  ++state.under_way;
  std::thread([records, request = state.request, complete = state.complete, &state] {
    hand_over(records, request, complete);
    const std::lock_guard lock(state.mutex);
    --state.under_way;
    state.handed_over.notify_all();
  }).detach();
}

}  // namespace

void record_activity(const KernelRun& run) {
  auto& state = activity();
  const std::lock_guard lock(state.mutex);
  if (!state.enabled) return;
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = state.clock_ns;
  record.end = state.clock_ns += run.kernel->nanoseconds;
  record.correlationId = run.correlation;
  record.name = run.kernel->name;
  record.graphNodeId = run.in_graph ? 1 : 0;
  state.records.push_back(record);
  if (state.records.size() >= kRecordsPerBuffer) hand_over_on_own_thread();
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  FAKE_GPU_CALL(cuptiActivityRegisterCallbacks);
  const std::lock_guard lock(fakes::activity().mutex);
  fakes::activity().request = request;
  fakes::activity().complete = complete;
  fakes::attach_to_driver();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  FAKE_GPU_CALL(cuptiActivityEnable);
  const std::lock_guard lock(fakes::activity().mutex);
  if (fakes::activity().request == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) fakes::activity().enabled = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  FAKE_GPU_CALL(cuptiActivityDisable);
  const std::lock_guard lock(fakes::activity().mutex);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) fakes::activity().enabled = false;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  FAKE_GPU_CALL(cuptiActivityFlushAll);
  std::vector<CUpti_ActivityKernel10> records;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    std::unique_lock lock(fakes::activity().mutex);
    fakes::activity().handed_over.wait(lock, [] { return fakes::activity().under_way == 0; });
    records.swap(fakes::activity().records);
    request = fakes::activity().request;
    complete = fakes::activity().complete;
  }
  if (!records.empty()) fakes::hand_over(records, request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record) {
  FAKE_CALL(cuptiActivityGetNextRecord);
  const auto* begin = reinterpret_cast<std::uint8_t*>(*record);
  const std::size_t next = begin == nullptr ? 0 : static_cast<std::size_t>(begin - buffer) + sizeof(CUpti_ActivityKernel10);
  if (next + sizeof(CUpti_ActivityKernel10) > valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + next);
  return CUPTI_SUCCESS;
}

}  // extern "C"
