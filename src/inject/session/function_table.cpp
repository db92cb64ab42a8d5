#include "inject/session/function_table.h"

#include <utility>

#include "base/collective_kernel.h"
#include "capture/encoding.h"

namespace dlkprof::inject {
namespace {

// Of XLA: TensorFlow and JAX choose kernels by timing them behind it (xla/stream_executor/cuda/delay_kernel_cuda.cu.cc).
bool is_delay(const std::string& mangled) {
  return mangled.find("15stream_executor") != std::string::npos && mangled.find("11DelayKernel") != std::string::npos;
}

std::string content_of(const capture::FunctionRecord& record, const capture::Dim3& cluster) {
  const auto bytes = capture::encode_payload(record);
  std::string content(bytes.begin(), bytes.end());
  return content.append(reinterpret_cast<const char*>(&cluster), sizeof cluster);
}

}  // namespace

FunctionTable::FunctionTable(select::Selector& selector, std::function<void(const capture::FunctionRecord&)> on_new)
    : selector_(selector), on_new_(std::move(on_new)) {}

const KernelFunction* FunctionTable::find(CUfunction handle) {
  if (const std::uint64_t now = epoch(); std::exchange(by_handle_epoch_, now) != now) by_handle_.clear();
  const auto known = by_handle_.find(handle);
  return known != by_handle_.end() ? known->second : nullptr;
}

const KernelFunction& FunctionTable::add(CUfunction handle, capture::FunctionRecord record, capture::Dim3 cluster) {
  const auto [place, is_new] = by_content_.try_emplace(content_of(record, cluster), nullptr);
  if (is_new) {
    record.id = static_cast<std::uint32_t>(functions_.size() + 1);
    const auto names = select::kernel_names(record.mangled_name);
    functions_.push_back({record, selector_.match_names(names), selector_.name_id(names),
                          is_collective_kernel(record.mangled_name), is_delay(record.mangled_name), cluster});
    place->second = &functions_.back();
    on_new_(record);
  }
  by_handle_.emplace(handle, place->second);
  return *place->second;
}

}  // namespace dlkprof::inject
