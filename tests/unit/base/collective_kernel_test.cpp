#include "base/collective_kernel.h"

#include <gtest/gtest.h>

namespace dlkprof::collective_kernel_test {
namespace {

TEST(CollectiveKernels, AreKnownByName) {
  for (const char* name :
       {"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
        "_ZN4vllm26cross_device_reduce_1stageI6__halfLi2EEEvPNS_8RankDataE",
        "_ZN62_GLOBAL__N__x_CUDASymmetricMemoryOps_cu34multimem_one_shot_all_reduce_kernelIfLi16EEEvPT_S2_",
        "_ZN4c10d16symmetric_memory14barrier_kernelEPPjiiim", "_ZN7deep_ep9intranode8dispatchILi8EEEvv",
        "_ZN15stream_executor3gpu19AllReduceKernelImplIfLN3xla13ReductionKindE0EEEvv",
        "_ZN15stream_executor3gpu25MultiGpuBarrierKernelImplEvv", "_ZN15stream_executor3gpu24RaggedAllToAllKernelImplILl8EEEvv",
        "_ZN10flashinfer23trtllm_allreduce_fusion39allreduce_fusion_kernel_oneshot_lamportEv"}) {
    EXPECT_TRUE(is_collective_kernel(name)) << name;
  }
  for (const char* name :
       {"_Z1fv", "volta_sgemm_128x64_nn", "_ZN2my13deep_epilogueEv", "_ZN2at6native13reduce_kernelILi512ELi1EEEvv"}) {
    EXPECT_FALSE(is_collective_kernel(name)) << name;
  }
}

}  // namespace
}  // namespace dlkprof::collective_kernel_test
