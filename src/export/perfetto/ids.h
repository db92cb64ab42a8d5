// What the events of a trace name one another by. Ids of tracks, processes, GPUs and GPU events are those of the whole trace;
// interned ones ("iid") are of one run, and follow from indices into its timeline, so that nothing is looked up.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "export/run.h"

namespace dlkprof::exports::perfetto {

// Given out over all runs of a trace.
struct TraceIds {
  std::uint64_t next_track = 1, next_event = 1;
  std::set<std::uint32_t> pids;
  std::map<std::pair<std::string, std::string>, std::uint32_t> gpus;  // host, PCI bus id -> GPU
};

// Interned categories, names of annotations, and render stages.
inline constexpr std::uint64_t kOp = 1, kRange = 2, kCudaCall = 3, kIteration = 4, kMark = 5, kBurst = 6;
inline constexpr std::uint64_t kOpName = 1, kOpId = 2, kIterationNumber = 3, kIsAggregated = 4, kIsSteady = 5;
inline constexpr std::uint64_t kKernelStage = 1, kCopyStage = 2, kSetStage = 3, kFirstQueue = 4;
// Arguments of GPU events; those of metrics follow, three of each.
inline constexpr std::uint64_t kArgOp = 1, kArgOpId = 2, kArgIteration = 3, kArgDevice = 4, kArgStream = 5, kArgReplayed = 6,
                               kArgCollectedBy = 7, kArgCacheControl = 8, kFirstMetricArg = 9;

class RunIds {
 public:
  RunIds(const Run& run, TraceIds& trace);

  [[nodiscard]] std::uint64_t process_track(std::uint32_t process) const { return first_track_ + process; }
  [[nodiscard]] std::uint64_t thread_track(std::uint32_t thread) const { return first_track_ + processes_ + thread; }
  [[nodiscard]] std::uint64_t iteration_track() const { return first_track_ + processes_ + threads_; }
  [[nodiscard]] std::uint64_t new_track() { return trace_->next_track++; }
  // Two processes of different machines may have one number: then the later one gets another.
  [[nodiscard]] std::uint32_t pid(std::uint32_t process) const { return pids_[process]; }
  [[nodiscard]] std::uint32_t tid(const model::Thread& thread) const { return thread.tid + tid_shifts_[thread.process]; }
  [[nodiscard]] std::uint32_t gpu(std::uint32_t device) const { return gpus_[device]; }
  [[nodiscard]] std::uint64_t event(std::uint64_t activity) const { return first_event_ + activity; }

  // Names of events.
  [[nodiscard]] std::uint64_t name_of_string(std::uint64_t string) const { return 1 + string; }
  [[nodiscard]] std::uint64_t name_of_op(std::uint64_t op) const { return 1 + strings_ + op; }
  [[nodiscard]] std::uint64_t name_of_kernel(std::uint64_t kernel) const { return 1 + strings_ + ops_ + kernel; }
  // Texts of annotations and arguments.
  [[nodiscard]] std::uint64_t text_of_op_name(std::uint64_t op) const { return 1 + op; }
  [[nodiscard]] std::uint64_t text_of_op_id(std::uint64_t op) const { return 1 + ops_ + op; }
  [[nodiscard]] static std::uint64_t context(std::uint64_t process) { return 1 + process; }
  [[nodiscard]] static std::uint64_t kernel_of_config(std::uint64_t config) { return 1 + config; }
  [[nodiscard]] std::uint64_t queue(std::uint32_t device, std::uint32_t stream) const { return queues_.at({device, stream}); }
  [[nodiscard]] const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& queues() const { return queues_; }

 private:
  TraceIds* trace_;
  std::uint64_t processes_, threads_, strings_, ops_;
  std::uint64_t first_track_ = 0, first_event_ = 0;
  std::vector<std::uint32_t> pids_, tid_shifts_, gpus_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> queues_;  // device, stream
};

}  // namespace dlkprof::exports::perfetto
