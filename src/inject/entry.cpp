// The entry points of libdlkprof_inject.so, and all that it exports: the CUDA driver calls the first when it is
// initialized (CUDA_INJECTION64_PATH), NVTX the second once for each of its instances in the process
// (NVTX_INJECTION64_PATH), and the third once for each of its extensions. Where NVTX loads the library first the driver does not
// call at all, so either one starts.

#include <cstdint>

#include "base/unnoticed.h"
#include "inject/session/session.h"
#include "inject/timeline/nvtx.h"

extern "C" {

__attribute__((visibility("default"))) int InitializeInjection() noexcept {
  const dlkprof::Unnoticed whole;
  dlkprof::inject::Session::start_once();
  return 1;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*export_table)(std::uint32_t)) noexcept {
  const dlkprof::Unnoticed whole;
  dlkprof::inject::Session::start_once();
  try {
    dlkprof::inject::attach_to_nvtx(export_table, dlkprof::inject::Session::wants_resource_names());
  } catch (...) {  // ranges and names stay unknown; patterns over names match nothing
  }
  return 1;
}

// NVTX calls it after the one above. 0: the extension is not for us.
__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(dlkprof::inject::ExtensionModule* module) noexcept {
  const dlkprof::Unnoticed whole;
  return dlkprof::inject::attach_to_extension(module) ? 1 : 0;
}

}  // extern "C"
