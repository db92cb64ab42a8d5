// Theoretical occupancy against cuda_occupancy.h of the CUDA Toolkit, over GPUs and launches of all kinds.
#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "model/aggregate/occupancy.h"
#include "support/sample_capture.h"

namespace dlkprof::model::occupancy_reference_test {
namespace {

struct Gpu {
  std::uint32_t major, minor, threads, blocks, shared_kb, optin_kb, reserved;
};
// Of the table of compute capabilities in the CUDA C++ Programming Guide.
constexpr std::array kGpus{
    Gpu{7, 0, 2048, 32, 96, 96, 0},       Gpu{7, 2, 2048, 32, 96, 96, 0},       Gpu{7, 5, 1024, 16, 64, 64, 0},
    Gpu{8, 0, 2048, 32, 164, 163, 1024},  Gpu{8, 6, 1536, 16, 100, 99, 1024},   Gpu{8, 7, 1536, 16, 164, 163, 1024},
    Gpu{8, 9, 1536, 24, 100, 99, 1024},   Gpu{9, 0, 2048, 32, 228, 227, 1024},  Gpu{10, 0, 2048, 32, 228, 227, 1024},
    Gpu{10, 3, 2048, 32, 228, 227, 1024}, Gpu{11, 0, 1536, 24, 228, 227, 1024}, Gpu{12, 0, 1536, 24, 100, 99, 1024},
    Gpu{12, 1, 1536, 24, 100, 99, 1024}};

capture::DeviceRecord device_of(const Gpu& gpu) {
  capture::DeviceRecord device = test::h200();
  device.cc_major = gpu.major;
  device.cc_minor = gpu.minor;
  device.max_threads_per_sm = gpu.threads;
  device.max_blocks_per_sm = gpu.blocks;
  device.shared_per_sm = gpu.shared_kb * 1024;
  device.shared_per_block_optin = gpu.optin_kb * 1024;
  device.shared_reserved_per_block = gpu.reserved;
  return device;
}

// None where cuda_occupancy.h refuses, or no block fits.
std::optional<cudaOccResult> expected(const capture::DeviceRecord& device, const capture::FunctionRecord& function,
                                      const capture::LaunchKey& launch) {
  cudaOccDeviceProp properties;
  properties.computeMajor = static_cast<int>(device.cc_major);
  properties.computeMinor = static_cast<int>(device.cc_minor);
  properties.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block);
  properties.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_sm);
  properties.regsPerBlock = static_cast<int>(device.registers_per_block);
  properties.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm);
  properties.warpSize = static_cast<int>(device.warp_size);
  properties.sharedMemPerBlock = device.shared_per_block;
  properties.sharedMemPerMultiprocessor = device.shared_per_sm;
  properties.numSms = static_cast<int>(device.sm_count);
  properties.sharedMemPerBlockOptin = device.shared_per_block_optin;
  properties.reservedSharedMemPerBlock = device.shared_reserved_per_block;
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = static_cast<int>(function.max_threads_per_block);
  // What a thread of Hopper gets at least (occupancy.cpp), of which the header knows nothing.
  attributes.numRegs =
      static_cast<int>(device.cc_major == 9 ? std::max(16U, function.registers_per_thread) : function.registers_per_thread);
  attributes.sharedSizeBytes = function.static_shared_bytes;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = launch.dynamic_shared_bytes;
  cudaOccDeviceState state;
  state.carveoutConfig = function.shared_carveout_percent;
  cudaOccResult result{};
  const auto status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                              static_cast<int>(launch.block.x), launch.dynamic_shared_bytes);
  if (status != CUDA_OCC_SUCCESS || result.activeBlocksPerMultiprocessor == 0) return std::nullopt;
  return result;
}

std::optional<Occupancy> computed(const capture::DeviceRecord& device, const capture::FunctionRecord& function,
                                  const capture::LaunchKey& launch) {
  try {
    return theoretical_occupancy(device, function, launch);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void expect_equal(const Occupancy& ours, const cudaOccResult& theirs) {
  const auto limit = [&](int blocks) { return static_cast<std::uint32_t>(blocks == INT_MAX ? theirs.blockLimitBlocks : blocks); };
  EXPECT_EQ(ours.limit_registers, limit(theirs.blockLimitRegs));
  EXPECT_EQ(ours.limit_shared, limit(theirs.blockLimitSharedMem));
  EXPECT_EQ(ours.limit_warps, limit(theirs.blockLimitWarps));
  EXPECT_EQ(ours.limit_blocks, limit(theirs.blockLimitBlocks));
  EXPECT_EQ(ours.blocks_per_sm, limit(theirs.activeBlocksPerMultiprocessor));
  const auto named = [&](const char* word) { return ours.limiter.find(word) != std::string::npos; };
  const auto limited = [&](unsigned int factor) { return (theirs.limitingFactors & factor) != 0; };
  EXPECT_EQ(named("registers"), limited(OCC_LIMIT_REGISTERS));
  EXPECT_EQ(named("shared memory"), limited(OCC_LIMIT_SHARED_MEMORY));
  EXPECT_EQ(named("warps"), limited(OCC_LIMIT_WARPS));
  EXPECT_EQ(named("blocks"), limited(OCC_LIMIT_BLOCKS));
}

class Reference : public testing::TestWithParam<Gpu> {};

// How many of the launches of so many threads and registers are possible; ends at the first on which the two disagree.
std::size_t compare(const capture::DeviceRecord& device, std::uint32_t threads, std::uint32_t registers) {
  std::size_t possible = 0;
  capture::FunctionRecord function = test::function(1, "k", registers);
  for (const std::uint32_t fixed : {0U, 1U, 9000U, 49152U}) {
    function.static_shared_bytes = fixed;
    for (const std::uint32_t dynamic : {0U, 127U, 4096U, 49152U, 65536U, 101376U, 166912U, 232448U}) {
      const capture::LaunchKey launch = test::key(1, {100, 1, 1}, {threads, 1, 1}, dynamic);
      for (const int carveout : {-2, -1, 0, 14, 50, 100, 101}) {
        function.shared_carveout_percent = carveout;
        const auto theirs = expected(device, function, launch);
        const auto ours = computed(device, function, launch);
        if (ours && theirs) expect_equal(*ours, *theirs);
        EXPECT_EQ(ours.has_value(), theirs.has_value());
        if (testing::Test::HasFailure()) {
          ADD_FAILURE() << threads << " threads, " << registers << " registers, " << fixed << " + " << dynamic
                        << " bytes, carveout " << carveout;
          return possible;
        }
        possible += ours ? 1 : 0;
      }
    }
  }
  return possible;
}

TEST_P(Reference, AgreesOnEveryLaunch) {
  const capture::DeviceRecord device = device_of(GetParam());
  std::size_t possible = 0;
  for (const std::uint32_t threads : {1U, 32U, 33U, 96U, 256U, 352U, 768U, 1024U, 1025U}) {
    for (const std::uint32_t registers : {0U, 1U, 15U, 16U, 17U, 32U, 64U, 65U, 168U, 255U, 256U, 257U}) {
      possible += compare(device, threads, registers);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(possible, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Gpus, Reference, testing::ValuesIn(kGpus), [](const testing::TestParamInfo<Gpu>& one) {
  return "cc" + std::to_string(one.param.major) + std::to_string(one.param.minor);
});

}  // namespace
}  // namespace dlkprof::model::occupancy_reference_test
