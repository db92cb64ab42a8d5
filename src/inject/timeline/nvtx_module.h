// The functions that one NVTX instance of the process lets a tool take over (nvtx3/nvtxDetail/nvtxTypes.h).
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string>

namespace dlkprof::inject {

// The argument of InitializeInjectionNvtx2.
using NvtxExportTable = const void* (*)(std::uint32_t);

// The functions of one module. Empty where the instance does not have it.
class NvtxModule {
 public:
  NvtxModule(NvtxExportTable export_table, NvtxCallbackModule module) {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(export_table != nullptr ? export_table(NVTX_ETID_CALLBACKS) : nullptr);
    if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return;
    if (callbacks->GetModuleFunctionTable(module, &functions_, &size_) == 0 || functions_ == nullptr) size_ = 0;
  }

  // An older NVTX may not have the function: then nobody calls it.
  template <typename Function>
  void put(unsigned index, Function function) {
    if (index < size_ && functions_[index] != nullptr) *functions_[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable functions_ = nullptr;
  unsigned size_ = 0;
};

// As UTF-8, at most `limit` bytes and a few more; what is no character becomes U+FFFD. "" for null. Throws std::bad_alloc.
[[nodiscard]] std::string to_utf8(const wchar_t* text, std::size_t limit);

}  // namespace dlkprof::inject
