// The kernel functions that the program has launched: who they are and what the selector says of their names, worked
// out once each. Not thread-safe: the session's lock is held.
#pragma once

#include <cuda.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "dlkprof/capture_format.h"
#include "select/selector.h"

namespace dlkprof::inject {

struct KernelFunction {
  capture::FunctionRecord record;
  select::NameMatch match = select::NameMatch::no;
  std::uint32_t name_id = 0;  // select::Selector::name_id
  bool collective = false;    // its blocks wait for other GPUs
  bool delays = false;        // it holds its stream back until the host has launched more, to time that
  capture::Dim3 cluster;      // that it was compiled for, in blocks
};

class FunctionTable {
 public:
  // `on_new` is told of each function seen first.
  FunctionTable(select::Selector& selector, std::function<void(const capture::FunctionRecord&)> on_new);

  // The function behind a handle; null where it is to be read (cupti::read_function) and added.
  [[nodiscard]] const KernelFunction* find(CUfunction handle);
  // `record` lacks its id. Lives as long as the table.
  const KernelFunction& add(CUfunction handle, capture::FunctionRecord record, capture::Dim3 cluster = {});

  // A module is unloaded: its handles may come to mean other functions. May be called without the lock.
  void forget_handles() noexcept { ++epoch_; }
  // What was looked up in another epoch may be out of date. May be called without the lock.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> epoch_{1};
  select::Selector& selector_;
  std::function<void(const capture::FunctionRecord&)> on_new_;
  std::unordered_map<CUfunction, const KernelFunction*> by_handle_;
  std::uint64_t by_handle_epoch_ = 1;
  // The same kernel has a handle a context; kernels of one name may differ (each Triton variant is called alike), so
  // what a FunctionRecord holds, all of it, tells functions apart.
  std::map<std::string, const KernelFunction*> by_content_;
  std::deque<KernelFunction> functions_;
};

}  // namespace dlkprof::inject
