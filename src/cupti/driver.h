// The CUDA driver that the process has loaded, and what is read from it. Never links libcuda: the profiled program
// brings it.
#pragma once

#include <cuda.h>

#include <string>
#include <vector>

#include "dlkprof/capture_format.h"

namespace dlkprof::cupti {

// Every driver function that dlkprof calls: our name, the name libcuda exports, and the declaration it follows.
// The _ptsz entries are those of programs built for per-thread default streams; cuda.h declares them as the plain ones.
#define DLKPROF_DRIVER_FUNCTIONS(X)                                                       \
  X(cuGetErrorName, cuGetErrorName, ::cuGetErrorName)                                     \
  X(cuDriverGetVersion, cuDriverGetVersion, ::cuDriverGetVersion)                         \
  X(cuDeviceGetName, cuDeviceGetName, ::cuDeviceGetName)                                  \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, ::cuDeviceGetAttribute)                   \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, ::cuDeviceTotalMem)                            \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, ::cuDeviceGetPCIBusId)                      \
  X(cuDeviceGetCount, cuDeviceGetCount, ::cuDeviceGetCount)                               \
  X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, ::cuDevicePrimaryCtxGetState) \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, ::cuDevicePrimaryCtxRetain)       \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, ::cuDevicePrimaryCtxRelease) \
  X(cuCtxGetCurrent, cuCtxGetCurrent, ::cuCtxGetCurrent)                                  \
  X(cuCtxGetDevice, cuCtxGetDevice, ::cuCtxGetDevice)                                     \
  X(cuCtxPushCurrent, cuCtxPushCurrent_v2, ::cuCtxPushCurrent)                            \
  X(cuCtxPopCurrent, cuCtxPopCurrent_v2, ::cuCtxPopCurrent)                               \
  X(cuCtxSynchronize, cuCtxSynchronize, ::cuCtxSynchronize)                               \
  X(cuCtxRecordEvent, cuCtxRecordEvent, ::cuCtxRecordEvent)                               \
  X(cuEventCreate, cuEventCreate, ::cuEventCreate)                                        \
  X(cuEventDestroy, cuEventDestroy_v2, ::cuEventDestroy)                                  \
  X(cuEventQuery, cuEventQuery, ::cuEventQuery)                                           \
  X(cuFuncGetAttribute, cuFuncGetAttribute, ::cuFuncGetAttribute)                         \
  X(cuKernelGetFunction, cuKernelGetFunction, ::cuKernelGetFunction)                      \
  X(cuStreamIsCapturing, cuStreamIsCapturing, ::cuStreamIsCapturing)                      \
  X(cuModuleLoadData, cuModuleLoadData, ::cuModuleLoadData)                               \
  X(cuModuleGetFunction, cuModuleGetFunction, ::cuModuleGetFunction)                      \
  X(cuModuleUnload, cuModuleUnload, ::cuModuleUnload)                                     \
  X(cuMemAlloc, cuMemAlloc_v2, ::cuMemAlloc)                                              \
  X(cuMemFree, cuMemFree_v2, ::cuMemFree)                                                 \
  X(cuMemGetInfo, cuMemGetInfo_v2, ::cuMemGetInfo)                                        \
  X(cuMemsetD8, cuMemsetD8_v2, ::cuMemsetD8)                                              \
  X(cuLaunchKernel, cuLaunchKernel, ::cuLaunchKernel)                                     \
  X(cuLaunchKernel_ptsz, cuLaunchKernel_ptsz, ::cuLaunchKernel)                           \
  X(cuLaunchKernelEx, cuLaunchKernelEx, ::cuLaunchKernelEx)                               \
  X(cuLaunchKernelEx_ptsz, cuLaunchKernelEx_ptsz, ::cuLaunchKernelEx)

struct DriverFunctions {
#define X(name, symbol, type) decltype(&type) name = nullptr;
  DLKPROF_DRIVER_FUNCTIONS(X)
#undef X
};

class Driver : public DriverFunctions {
 public:
  // Throws Error where the process can open no libcuda.so.1 or it lacks a function. Stays open for good.
  [[nodiscard]] static const Driver& open();

  // Functions of one's own in place of libcuda's: of tests.
  explicit Driver(const DriverFunctions& table) : DriverFunctions(table) {}

 private:
  Driver() = default;
};

// Throws Error for anything but CUDA_SUCCESS, with the call and the driver's name for the result.
void check(const Driver& driver, CUresult result, const char* call);
// The driver's name for it.
[[nodiscard]] std::string name_of(const Driver& driver, CUresult result);

// What a report needs to know of a device; `chip` as cuptiDeviceGetChipName gives it.
[[nodiscard]] capture::DeviceRecord read_device(const Driver& driver, CUdevice device, std::string chip);

// GPUs on which this process has a primary context: that of CUDA's runtime.
[[nodiscard]] int devices_in_use(const Driver& driver);

// Waits for what was launched in the current context, and in the primary ones of other GPUs, which may write to memory of this
// one. Throws Error.
void synchronize_devices(const Driver& driver);
// The primary contexts that are in use, but for that one. Throws Error.
[[nodiscard]] std::vector<CUcontext> contexts_of_others(const Driver& driver, CUcontext context);

// Attributes of a kernel function; its id is left 0. `function` may be a CUkernel, as launches may name one.
[[nodiscard]] capture::FunctionRecord read_function(const Driver& driver, CUfunction function, std::string mangled_name);

// What a kernel was compiled for (__cluster_dims__), in blocks: its launches have such clusters without naming them. 1 1 1 where
// there is no such thing. `function` likewise.
[[nodiscard]] capture::Dim3 compiled_cluster(const Driver& driver, CUfunction function) noexcept;

// Makes a context current for a scope. CUPTI and the driver act on the current one.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, CUcontext context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

 private:
  const Driver& driver_;
  bool pushed_ = false;
};

}  // namespace dlkprof::cupti
