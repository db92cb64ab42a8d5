#include "inject/resource_names.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <clocale>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace dlkprof::inject {
namespace {

struct Names {
  std::mutex mutex;
  std::map<const void*, std::string> by_handle;
};

// Never destroyed: the program may name streams while it exits.
Names& names() {
  static Names& instance = *new Names;
  return instance;
}

void give_name(const void* handle, const char* name) noexcept {
  try {
    const std::lock_guard lock(names().mutex);
    names().by_handle[handle] = name != nullptr ? name : "";
  } catch (...) {  // out of memory: the name is lost, the program is not
  }
}

void give_wide_name(const void* handle, const wchar_t* name) noexcept {
  std::string narrow;
  try {
    // ASCII as it is; what a pattern cannot be written for portably becomes '?'.
    for (; name != nullptr && *name != L'\0'; ++name) narrow += *name < 0x80 ? static_cast<char>(*name) : '?';
  } catch (...) {
    return;
  }
  give_name(handle, narrow.c_str());
}

template <typename Function>
void put(NvtxFunctionTable table, unsigned size, unsigned index, Function function) {
  if (index < size && table[index] != nullptr) *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

void listen_to_names(const void* (*export_table)(std::uint32_t)) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &table, &size) != 0) {
    put(
        table, size, NVTX_CBID_CUDA_NameCuContextA, +[](const void* h, const char* n) { give_name(h, n); });
    put(
        table, size, NVTX_CBID_CUDA_NameCuContextW, +[](const void* h, const wchar_t* n) { give_wide_name(h, n); });
    put(
        table, size, NVTX_CBID_CUDA_NameCuStreamA, +[](const void* h, const char* n) { give_name(h, n); });
    put(
        table, size, NVTX_CBID_CUDA_NameCuStreamW, +[](const void* h, const wchar_t* n) { give_wide_name(h, n); });
  }
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDART, &table, &size) != 0) {
    put(
        table, size, NVTX_CBID_CUDART_NameCudaStreamA, +[](const void* h, const char* n) { give_name(h, n); });
    put(
        table, size, NVTX_CBID_CUDART_NameCudaStreamW, +[](const void* h, const wchar_t* n) { give_wide_name(h, n); });
  }
}

std::string resource_name(const void* handle) {
  const std::lock_guard lock(names().mutex);
  const auto found = names().by_handle.find(handle);
  return found != names().by_handle.end() ? found->second : std::string();
}

}  // namespace dlkprof::inject
