#include "inject/session/launch_call.h"

namespace dlkprof::inject {
namespace {

// cuLaunchKernel, cuLaunchCooperativeKernel and their _ptsz forms have the same fields.
template <typename Params>
void read_plain(LaunchCall& call) {
  const auto& params = *static_cast<const Params*>(call.params);
  call.function = params.f;
  call.grid = {params.gridDimX, params.gridDimY, params.gridDimZ};
  call.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  call.dynamic_shared_bytes = params.sharedMemBytes;
  call.stream = params.hStream;
}

template <typename Params>
void read_ex(LaunchCall& call) {
  const auto& params = *static_cast<const Params*>(call.params);
  call.function = params.f;
  if (params.config == nullptr) return;  // the driver will refuse it
  const CUlaunchConfig& config = *params.config;
  call.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  call.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  call.dynamic_shared_bytes = config.sharedMemBytes;
  call.stream = config.hStream;
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    const auto& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) call.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      call.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
    }
  }
}

template <typename Params>
CUresult plain_again(decltype(&::cuLaunchKernel) launch, const void* opaque) {
  const auto& p = *static_cast<const Params*>(opaque);
  return launch(p.f, p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ, p.sharedMemBytes, p.hStream,
                p.kernelParams, p.extra);
}

template <typename Params>
CUresult ex_again(decltype(&::cuLaunchKernelEx) launch, const void* opaque) {
  const auto& p = *static_cast<const Params*>(opaque);
  return launch(p.config, p.f, p.kernelParams, p.extra);
}

}  // namespace

std::optional<LaunchCall> read_launch(CUpti_CallbackId entry, const void* params) {
  LaunchCall call;
  call.entry = entry;
  call.params = params;
  switch (entry) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      read_plain<cuLaunchKernel_params>(call);
      return call;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      read_plain<cuLaunchKernel_ptsz_params>(call);
      call.per_thread_stream = true;
      return call;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      read_ex<cuLaunchKernelEx_params>(call);
      return call;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      read_ex<cuLaunchKernelEx_ptsz_params>(call);
      call.per_thread_stream = true;
      return call;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      read_plain<cuLaunchCooperativeKernel_params>(call);
      call.cooperative = true;
      return call;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      read_plain<cuLaunchCooperativeKernel_ptsz_params>(call);
      call.cooperative = true;
      call.per_thread_stream = true;
      return call;
    default:
      return std::nullopt;
  }
}

std::uint64_t allocated_bytes(CUpti_CallbackId entry, const void* params) noexcept {
  switch (entry) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2:
      return static_cast<const cuMemAlloc_v2_params*>(params)->bytesize;
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged:
      return static_cast<const cuMemAllocManaged_params*>(params)->bytesize;
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
      return static_cast<const cuMemAllocAsync_params*>(params)->bytesize;
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz:
      return static_cast<const cuMemAllocAsync_ptsz_params*>(params)->bytesize;
    default:
      return 0;
  }
}

CUresult launch_again(const cupti::Driver& driver, const LaunchCall& call) {
  switch (call.entry) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      return plain_again<cuLaunchKernel_params>(driver.cuLaunchKernel, call.params);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return plain_again<cuLaunchKernel_ptsz_params>(driver.cuLaunchKernel_ptsz, call.params);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return ex_again<cuLaunchKernelEx_params>(driver.cuLaunchKernelEx, call.params);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return ex_again<cuLaunchKernelEx_ptsz_params>(driver.cuLaunchKernelEx_ptsz, call.params);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace dlkprof::inject
