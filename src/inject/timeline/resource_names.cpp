#include "inject/timeline/resource_names.h"

#include <map>
#include <mutex>

#include "inject/timeline/nvtx_module.h"

namespace dlkprof::inject {
namespace {

constexpr std::size_t kLongestName = 65'536;

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
  try {
    give_name(handle, to_utf8(name, kLongestName).c_str());
  } catch (...) {  // as above
  }
}

// One function for contexts and streams alike: a handle is a handle.
void name(void* handle, const char* name) { give_name(handle, name); }
void name_wide(void* handle, const wchar_t* name) { give_wide_name(handle, name); }

}  // namespace

void listen_to_names(const void* (*export_table)(std::uint32_t)) {
  NvtxModule cuda(export_table, NVTX_CB_MODULE_CUDA);
  cuda.put<nvtxNameCuContextA_fakeimpl_fntype>(NVTX_CBID_CUDA_NameCuContextA, name);
  cuda.put<nvtxNameCuContextW_fakeimpl_fntype>(NVTX_CBID_CUDA_NameCuContextW, name_wide);
  cuda.put<nvtxNameCuStreamA_fakeimpl_fntype>(NVTX_CBID_CUDA_NameCuStreamA, name);
  cuda.put<nvtxNameCuStreamW_fakeimpl_fntype>(NVTX_CBID_CUDA_NameCuStreamW, name_wide);
  NvtxModule runtime(export_table, NVTX_CB_MODULE_CUDART);
  runtime.put<nvtxNameCudaStreamA_fakeimpl_fntype>(NVTX_CBID_CUDART_NameCudaStreamA, name);
  runtime.put<nvtxNameCudaStreamW_fakeimpl_fntype>(NVTX_CBID_CUDART_NameCudaStreamW, name_wide);
}

std::string resource_name(const void* handle) {
  const std::lock_guard lock(names().mutex);
  const auto found = names().by_handle.find(handle);
  return found != names().by_handle.end() ? found->second : std::string();
}

}  // namespace dlkprof::inject
