// Names that the program gives to contexts and streams through NVTX (nvtxNameCuStream..., nvtxNameCudaStream...), for
// --kernel-id patterns over them. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace dlkprof::inject {

// Puts our functions behind the naming calls of the NVTX instance that `export_table` belongs to: the argument of
// InitializeInjectionNvtx2 (nvtx3/nvtxDetail/nvtxTypes.h, NvtxGetExportTableFunc_t).
void listen_to_names(const void* (*export_table)(std::uint32_t));

// The name given to a CUcontext or CUstream handle; "" where none was.
[[nodiscard]] std::string resource_name(const void* handle);

}  // namespace dlkprof::inject
