#include "inject/session/launch_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace dlkprof::inject::launch_call_test {
namespace {

CUfunction handle(std::uintptr_t value) { return reinterpret_cast<CUfunction>(value); }

TEST(LaunchCall, ReadsPlainLaunches) {
  cuLaunchKernel_params params{};
  params.f = handle(0x10);
  params.gridDimX = 1;
  params.gridDimY = 2;
  params.gridDimZ = 3;
  params.blockDimX = 4;
  params.blockDimY = 5;
  params.blockDimZ = 6;
  params.sharedMemBytes = 7;
  params.hStream = reinterpret_cast<CUstream>(8);
  const auto call = read_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &params);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->function, handle(0x10));
  EXPECT_EQ(call->grid, (capture::Dim3{1, 2, 3}));
  EXPECT_EQ(call->block, (capture::Dim3{4, 5, 6}));
  EXPECT_EQ(call->cluster, (capture::Dim3{1, 1, 1}));
  EXPECT_EQ(call->dynamic_shared_bytes, 7U);
  EXPECT_EQ(call->stream, reinterpret_cast<CUstream>(8));
  EXPECT_FALSE(call->per_thread_stream);
  EXPECT_FALSE(call->cooperative);
}

TEST(LaunchCall, ReadsAttributesOfExtendedLaunches) {
  std::array<CUlaunchAttribute, 2> attributes{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim = {2, 1, 1};
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[1].value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = 9;
  config.blockDimZ = 3;
  config.sharedMemBytes = 11;
  config.attrs = attributes.data();
  config.numAttrs = 2;
  const cuLaunchKernelEx_ptsz_params params{&config, handle(0x20), nullptr, nullptr};
  const auto call = read_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &params);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->function, handle(0x20));
  EXPECT_EQ(call->grid.x, 9U);
  EXPECT_EQ(call->block.z, 3U);
  EXPECT_EQ(call->cluster, (capture::Dim3{2, 1, 1}));
  EXPECT_EQ(call->dynamic_shared_bytes, 11U);
  EXPECT_TRUE(call->per_thread_stream);
  EXPECT_TRUE(call->cooperative);
}

TEST(LaunchCall, SurvivesWhatTheDriverWillRefuse) {
  const cuLaunchKernelEx_params no_config{nullptr, handle(0x30), nullptr, nullptr};
  EXPECT_EQ(read_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &no_config)->function, handle(0x30));
  CUlaunchConfig config{};
  config.numAttrs = 5;  // but none there
  const cuLaunchKernelEx_params no_attributes{&config, handle(0x30), nullptr, nullptr};
  EXPECT_FALSE(read_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &no_attributes)->cooperative);
}

TEST(LaunchCall, KnowsEveryEntryThatIsWatchedAndNoOther) {
  CUlaunchConfig config{};
  cuLaunchKernel_params plain{};
  cuLaunchKernelEx_params extended{&config, nullptr, nullptr, nullptr};
  for (CUpti_CallbackId id = 0; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const bool is_extended =
        id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
    const void* params = is_extended ? static_cast<const void*>(&extended) : &plain;
    EXPECT_EQ(read_launch(id, params).has_value(), is_launch(id)) << id;
  }
}

TEST(LaunchCall, CooperativeEntriesAreCooperative) {
  const cuLaunchCooperativeKernel_params params{};
  EXPECT_TRUE(read_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, &params)->cooperative);
  const auto per_thread = read_launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, &params);
  EXPECT_TRUE(per_thread->cooperative);
  EXPECT_TRUE(per_thread->per_thread_stream);
}

}  // namespace
}  // namespace dlkprof::inject::launch_call_test
