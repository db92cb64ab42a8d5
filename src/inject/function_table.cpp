#include "inject/function_table.h"

#include <utility>

#include "capture/encoding.h"

namespace dlkprof::inject {
namespace {

// NCCL names all of its kernels so (ncclDevKernel_..., ncclKernel_...; nccl/src/device/generate.py).
bool is_collective(const std::string& mangled) { return mangled.find("nccl") != std::string::npos; }

std::string content_of(const capture::FunctionRecord& record) {
  const auto bytes = capture::encode_payload(record);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

FunctionTable::FunctionTable(const cupti::Driver& driver, select::Selector& selector,
                             std::function<void(const capture::FunctionRecord&)> on_new)
    : driver_(driver), selector_(selector), on_new_(std::move(on_new)) {}

const KernelFunction& FunctionTable::find(CUfunction handle, const char* symbol) {
  const auto known = by_handle_.find(handle);
  return known != by_handle_.end() ? *known->second : add(handle, symbol);
}

const KernelFunction& FunctionTable::add(CUfunction handle, const char* symbol) {
  auto record = cupti::read_function(driver_, handle, symbol != nullptr ? symbol : "");
  const auto [place, is_new] = by_content_.try_emplace(content_of(record), nullptr);
  if (is_new) {
    record.id = static_cast<std::uint32_t>(functions_.size() + 1);
    const auto names = select::kernel_names(record.mangled_name);
    functions_.push_back({record, selector_.match_names(names), selector_.name_id(names), is_collective(record.mangled_name)});
    place->second = &functions_.back();
    on_new_(record);
  }
  by_handle_.emplace(handle, place->second);
  return *place->second;
}

}  // namespace dlkprof::inject
