#include "base/collective_kernel.h"

#include <algorithm>
#include <array>

namespace dlkprof {
namespace {

// What is in the names of kernels that wait for those of other GPUs.
constexpr std::array kWaiting{
    "nccl",                     // all of NCCL's: ncclDevKernel_... (nccl/src/device/generate.py)
    "nvshmem",                  // NVSHMEM's own: nvshmemi_... (nvshmem/src/device/)
    "cross_device_reduce",      // vLLM and SGLang: custom_all_reduce.cuh
    "shot_all_reduce",          // PyTorch's symmetric memory: one_, two_ and multimem_one_ (CUDASymmetricMemoryOps.cu)
    "multimem_all_",            // the same: multimem_all_reduce_kernel, multimem_all_gather_kernel
    "symmetric_memory",         // its namespace: barrier_kernel, put_signal_kernel, wait_signal_kernel (CUDASymmetricMemory.cu)
    "ShotAllReduceKernel",      // TensorRT-LLM: customAllReduceKernels.cu
    "allreduce_fusion_kernel",  // TensorRT-LLM and FlashInfer: trtllm_allreduce_fusion.cuh
    "7deep_ep",                 // DeepEP's namespace, as it is mangled
    "AllReduceKernelImpl",      // XLA's own: xla/stream_executor/gpu/all_reduce_kernel_lib.cu.h
    "RaggedAllToAllKernel",     // the same: ragged_all_to_all_kernel_lib.cu.h
    "GpuBarrierKernel",         // the same, multi_gpu_barrier_kernel.cu.h; and TensorRT-LLM's multiGpuBarrierKernel
};

}  // namespace

bool is_collective_kernel(std::string_view name) noexcept {
  return std::any_of(kWaiting.begin(), kWaiting.end(), [&](std::string_view part) { return name.find(part) != name.npos; });
}

}  // namespace dlkprof
