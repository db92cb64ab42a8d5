// Activity records of kernels, copies and sets. Full buffers are handed over on a thread of CUPTI's own, as the real one
// does.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <set>
#include <thread>

#include "common/journal.h"
#include "cupti/real.h"

namespace fakes {
namespace {

// Small, so that even a short test sees buffers come on the other thread.
constexpr std::size_t kRecordsPerBuffer = 64;
// Then the program waits: one that does nothing but copy would have a thread for each buffer.
constexpr int kMostUnderWay = 16;
// Copies and sets at the pace of PCIe 5 and HBM, about, and with the latency of either.
constexpr std::uint64_t kMoveLatencyNs = 1000, kBytesPerNanosecond = 50;

// A record of any kind. All take the same room.
using Slot = std::array<std::uint8_t, 512>;
template <typename Record>
Slot to_slot(const Record& record) {
  static_assert(sizeof(Record) <= sizeof(Slot));
  Slot slot{};
  std::memcpy(slot.data(), &record, sizeof record);
  return slot;
}

struct Activity {
  std::mutex mutex;
  std::condition_variable handed_over;
  int under_way = 0;  // buffers that threads of ours are handing over
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  std::set<CUpti_ActivityKind> enabled;
  std::uint64_t clock_ns = 1'000'000'000;
  std::vector<Slot> records;
  struct Ran {
    std::uint64_t start_ns, end_ns;
    int device;
    unsigned recorded;
  };
  std::vector<Ran> ran;  // kernels, one after the other
};

Activity& activity() {
  static auto& instance = *new Activity;
  return instance;
}

// Asks the client for memory, fills it, and gives it back. No lock is held.
void hand_over(const std::vector<Slot>& records, CUpti_BuffersCallbackRequestFunc request,
               CUpti_BuffersCallbackCompleteFunc complete) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, limit = 0;
  request(&buffer, &size, &limit);
  const std::size_t bytes = records.size() * sizeof(Slot);
  if (buffer == nullptr || size < bytes) return misuse("an activity buffer is missing or too small");
  std::memcpy(buffer, records.data(), bytes);
  complete(nullptr, 0, buffer, size, bytes);
}

// No cancellation of the program's thread takes place in here: it may have called CUDA in a destructor, which cannot be unwound.
template <typename Until>
void wait_for_buffers(std::unique_lock<std::mutex>& lock, Until until) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  activity().handed_over.wait(lock, until);
  pthread_setcancelstate(before, nullptr);
}

// The activity's lock is held.
void hand_over_on_own_thread() {
  auto& state = activity();
  std::unique_lock held(state.mutex, std::adopt_lock);
  wait_for_buffers(held, [&] { return state.under_way < kMostUnderWay; });
  held.release();  // the caller's
  std::vector<Slot> records;
  records.swap(state.records);
  ++state.under_way;
  std::thread([records, request = state.request, complete = state.complete, &state] {
    hand_over(records, request, complete);
    const std::lock_guard lock(state.mutex);
    --state.under_way;
    state.handed_over.notify_all();
  }).detach();
}

// One thing after the other on one GPU, none before it was asked for. The lock is held.
template <typename Record>
void place(Record& record, CUpti_ActivityKind kind, CUcontext context, std::uint32_t correlation, std::uint64_t nanoseconds) {
  auto& state = activity();
  record.kind = kind;
  const std::uint64_t now = state.timestamp != nullptr ? state.timestamp() : 0;
  record.start = std::max(state.clock_ns, now);
  record.end = state.clock_ns = record.start + nanoseconds;
  record.correlationId = correlation;
  record.deviceId = static_cast<std::uint32_t>(driver()->device_of(context));
  record.contextId = driver()->context_id(context);
}

// The lock is held, and is let go of where buffers are waited for.
template <typename Record>
void keep(const Record& record) {
  auto& state = activity();
  if (state.request == nullptr) return;  // CUPTI was left since it was launched
  state.records.push_back(to_slot(record));
  if (state.records.size() >= kRecordsPerBuffer) hand_over_on_own_thread();
}

}  // namespace

void record_activity(const KernelRun& run) {
  auto& state = activity();
  const std::lock_guard lock(state.mutex);
  if (!run.recorded) return;
  const auto& [grid, block, shared, stream, per_thread, named_cluster] = run.shape;
  CUpti_ActivityKernel10 record{};
  record.name = run.kernel->name;
  record.graphNodeId = run.graph_node;
  record.streamId = driver()->stream_id(run.context, stream, per_thread);
  record.gridX = grid[0], record.gridY = grid[1], record.gridZ = grid[2];
  record.blockX = block[0], record.blockY = block[1], record.blockZ = block[2];
  if (const int blocks = std::max(named_cluster, run.kernel->cluster); blocks > 1) {
    record.clusterX = static_cast<std::uint32_t>(blocks), record.clusterY = record.clusterZ = 1;
  }
  record.dynamicSharedMemory = shared;
  place(record, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, run.context, run.correlation, run.kernel->nanoseconds);
  // While the lock is held: who has the samples of this time decoded finds the kernel there.
  state.ran.push_back({record.start, record.end, driver()->device_of(run.context), run.kernel->recorded_range});
  keep(record);
}

void forget_activity() {
  auto& state = activity();
  std::unique_lock lock(state.mutex);
  wait_for_buffers(lock, [&] { return state.under_way == 0; });
  state.request = nullptr;
  state.complete = nullptr;
  state.timestamp = nullptr;
  state.enabled.clear();
  state.records.clear();
}

bool records_kernels() {
  auto& state = activity();
  const std::lock_guard lock(state.mutex);
  return state.enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

namespace {

// The first kernel that does not begin before `ns`. The lock is held.
auto first_from(std::uint64_t ns) {
  return std::lower_bound(activity().ran.begin(), activity().ran.end(), ns,
                          [](const Activity::Ran& ran, std::uint64_t time) { return ran.start_ns < time; });
}

}  // namespace

std::optional<unsigned> recorded_at(int device, std::uint64_t start_ns, std::uint64_t end_ns) {
  auto& state = activity();
  const std::lock_guard lock(state.mutex);
  const auto after = first_from(end_ns);
  if (after == state.ran.begin()) return std::nullopt;
  const Activity::Ran& ran = *(after - 1);
  return ran.device == device && ran.end_ns > start_ns ? std::optional(ran.recorded) : std::nullopt;
}

bool shared_at(int device, std::uint64_t start_ns, std::uint64_t end_ns) {
  auto& state = activity();
  const std::lock_guard lock(state.mutex);
  int kernels = 0;
  for (auto ran = first_from(end_ns); ran != state.ran.begin() && (ran - 1)->end_ns > start_ns; --ran) {
    if ((ran - 1)->device == device) ++kernels;
  }
  return kernels > 1;
}

void record_move(const MemoryMove& move) {
  const bool in_range = collects();
  auto& state = activity();
  const std::lock_guard lock(state.mutex);
  const auto kind = move.kind == MemoryMove::Kind::set ? CUPTI_ACTIVITY_KIND_MEMSET : CUPTI_ACTIVITY_KIND_MEMCPY;
  if (!state.enabled.contains(kind)) return;
  if (in_range) misuse("a copy or set is recorded in a range: such a record is never completed");
  const std::uint64_t nanoseconds = kMoveLatencyNs + move.bytes / kBytesPerNanosecond;
  const std::uint32_t stream = driver()->stream_id(move.context, nullptr, false);
  if (kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    CUpti_ActivityMemset4 record{};
    record.bytes = move.bytes;
    record.streamId = stream;
    place(record, kind, move.context, move.correlation, nanoseconds);
    keep(record);
  } else {
    CUpti_ActivityMemcpy6 record{};
    record.copyKind = move.kind == MemoryMove::Kind::htod ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    record.bytes = move.bytes;
    record.streamId = stream;
    place(record, kind, move.context, move.correlation, nanoseconds);
    keep(record);
  }
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  FAKE_GPU_CALL(cuptiActivityRegisterTimestampCallback);
  const std::lock_guard lock(fakes::activity().mutex);
  if (!fakes::activity().enabled.empty()) fakes::misuse("a clock for activity records comes after the first was enabled");
  fakes::activity().timestamp = timestamp;
  return CUPTI_SUCCESS;
}

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
  fakes::activity().enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  FAKE_GPU_CALL(cuptiActivityDisable);
  const std::lock_guard lock(fakes::activity().mutex);
  fakes::activity().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  FAKE_GPU_CALL(cuptiActivityFlushAll);
  std::vector<fakes::Slot> records;
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

// Records are handed over as they come anyway.
CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
  FAKE_CALL(cuptiActivityFlushPeriod);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record) {
  FAKE_CALL(cuptiActivityGetNextRecord);
  const auto* begin = reinterpret_cast<std::uint8_t*>(*record);
  const std::size_t next = begin == nullptr ? 0 : static_cast<std::size_t>(begin - buffer) + sizeof(fakes::Slot);
  if (next + sizeof(fakes::Slot) > valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + next);
  return CUPTI_SUCCESS;
}

}  // extern "C"
