// A kernel launch as a driver callback shows it, whichever entry of the driver it came through.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "cupti/driver.h"
#include "dlkprof/capture_format.h"

namespace dlkprof::inject {

struct LaunchCall {
  CUpti_CallbackId entry = 0;    // CUPTI_DRIVER_TRACE_CBID_cuLaunch...
  const void* params = nullptr;  // of that entry; valid until the call returns
  CUfunction function = nullptr;
  capture::Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0;
  CUstream stream = nullptr;
  bool per_thread_stream = false;  // what stream 0 means
  bool cooperative = false;
};

// The driver entries that launch one kernel.
inline constexpr CUpti_CallbackId kLaunchEntries[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

[[nodiscard]] constexpr bool is_launch(CUpti_CallbackId entry) {
  return std::find(std::begin(kLaunchEntries), std::end(kLaunchEntries), entry) != std::end(kLaunchEntries);
}

// None where `entry` is not one of kLaunchEntries.
[[nodiscard]] std::optional<LaunchCall> read_launch(CUpti_CallbackId entry, const void* params);

// The function alone; null of what launches none, and of cuLaunchCooperativeKernel.
[[nodiscard]] inline CUfunction function_of_launch(CUpti_CallbackId entry, const void* params) noexcept {
  switch (entry) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      return static_cast<const cuLaunchKernel_params*>(params)->f;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return static_cast<const cuLaunchKernel_ptsz_params*>(params)->f;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return static_cast<const cuLaunchKernelEx_params*>(params)->f;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return static_cast<const cuLaunchKernelEx_ptsz_params*>(params)->f;
    default:
      return nullptr;
  }
}

// At a call's exit.
[[nodiscard]] inline bool is_refused(const CUpti_CallbackData& data) noexcept {
  return data.functionReturnValue != nullptr && *static_cast<const CUresult*>(data.functionReturnValue) != CUDA_SUCCESS;
}

// How much GPU memory a call has allocated; 0 of any other call.
[[nodiscard]] std::uint64_t allocated_bytes(CUpti_CallbackId entry, const void* params) noexcept;

// Launches the same kernel with the same arguments again. Not for cooperative launches.
[[nodiscard]] CUresult launch_again(const cupti::Driver& driver, const LaunchCall& call);

}  // namespace dlkprof::inject
