#include "model/aggregate/occupancy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "base/error.h"
#include "support/sample_capture.h"

namespace dlkprof::model::occupancy_test {
namespace {

using test::function;
using test::h200;
using test::key;

Occupancy occupancy(const capture::FunctionRecord& kernel, const capture::LaunchKey& launch) {
  return theoretical_occupancy(h200(), kernel, launch);
}

// GH100 has 65,536 registers, 64 warps, 32 blocks and up to 228 KB of shared memory a multiprocessor, in 4 partitions;
// registers go to a warp in units of 256, shared memory to a block in units of 128 bytes, and the driver takes 1 KB of
// it for each block.

TEST(TheoreticalOccupancy, IsLimitedByWarps) {
  // 256 threads are 8 warps: 64 / 8 = 8 blocks. 32 registers * 32 threads = 1,024 a warp: 16,384 / 1,024 = 16 warps a
  // partition, 64 in all, 8 blocks too. Shared memory: 228 KB hold 228 blocks of 1 KB.
  const Occupancy result = occupancy(function(1, "k", 32), key(1, {2112, 1, 1}, {256, 1, 1}));
  EXPECT_EQ(result.limit_warps, 8U);
  EXPECT_EQ(result.limit_registers, 8U);
  EXPECT_EQ(result.limit_shared, 228U);
  EXPECT_EQ(result.limit_blocks, 32U);
  EXPECT_EQ(result.blocks_per_sm, 8U);
  EXPECT_EQ(result.warps_per_sm, 64U);
  EXPECT_DOUBLE_EQ(result.percent, 100.0);
  EXPECT_DOUBLE_EQ(result.waves, 2.0);  // 2112 / (132 * 8)
  EXPECT_EQ(result.shared_per_block, 1024U);
  EXPECT_EQ(result.limiter, "registers, warps");
}

TEST(TheoreticalOccupancy, IsLimitedByRegisters) {
  // 128 registers * 32 = 4,096 a warp: 16,384 / 4,096 = 4 warps a partition, 16 in all; a block of 128 threads has 4.
  const Occupancy result = occupancy(function(1, "k", 128), key(1, {100, 1, 1}, {128, 1, 1}));
  EXPECT_EQ(result.limit_registers, 4U);
  EXPECT_EQ(result.limit_warps, 16U);
  EXPECT_EQ(result.blocks_per_sm, 4U);
  EXPECT_DOUBLE_EQ(result.percent, 25.0);  // 16 of 64 warps
  EXPECT_EQ(result.limiter, "registers");
}

TEST(TheoreticalOccupancy, RoundsRegistersUpToTheUnitOfAllocation) {
  // 65 registers * 32 = 2,080, allocated as 2,304: 16,384 / 2,304 = 7 warps a partition, 28 in all, 3 blocks of 8.
  const Occupancy result = occupancy(function(1, "k", 65), key(1, {1, 1, 1}, {256, 1, 1}));
  EXPECT_EQ(result.limit_registers, 3U);
}

TEST(TheoreticalOccupancy, IsLimitedBySharedMemory) {
  // 100 KB dynamic and the driver's 1 KB: 233,472 / 103,424 = 2 blocks of 4 warps.
  const Occupancy result = occupancy(function(1, "k", 32), key(1, {132, 1, 1}, {128, 1, 1}, 102400));
  EXPECT_EQ(result.limit_shared, 2U);
  EXPECT_EQ(result.blocks_per_sm, 2U);
  EXPECT_DOUBLE_EQ(result.percent, 12.5);  // 8 of 64 warps
  EXPECT_DOUBLE_EQ(result.waves, 0.5);
  EXPECT_EQ(result.shared_per_block, 103424U);
  EXPECT_EQ(result.limiter, "shared memory");
}

TEST(TheoreticalOccupancy, CountsStaticSharedMemory) {
  // 12 KB static and 1 KB of the driver are 13,312 bytes: 233,472 / 13,312 = 17.
  capture::FunctionRecord kernel = function(1, "k", 16);
  kernel.static_shared_bytes = 12288;
  EXPECT_EQ(occupancy(kernel, key(1, {1, 1, 1}, {64, 1, 1})).limit_shared, 17U);
}

TEST(TheoreticalOccupancy, HonoursTheCarveout) {
  // 14 % of 228 KB is 31.9 KB, rounded up to the configuration of 32 KB: two blocks of 13 KB.
  capture::FunctionRecord kernel = function(1, "k", 16);
  kernel.static_shared_bytes = 12288;
  kernel.shared_carveout_percent = 14;
  const Occupancy result = occupancy(kernel, key(1, {1, 1, 1}, {64, 1, 1}));
  EXPECT_EQ(result.limit_shared, 2U);
  EXPECT_EQ(result.limiter, "shared memory");
}

TEST(TheoreticalOccupancy, IsLimitedByBlocks) {
  // One warp a block: 32 blocks of 64 warps' room.
  const Occupancy result = occupancy(function(1, "k", 16), key(1, {1, 1, 1}, {32, 1, 1}));
  EXPECT_EQ(result.blocks_per_sm, 32U);
  EXPECT_DOUBLE_EQ(result.percent, 50.0);
  EXPECT_EQ(result.limiter, "blocks");
}

TEST(TheoreticalOccupancy, FollowsTheGpu) {
  // GA102 (8.6): 48 warps, 16 blocks, 100 KB. 1,024 threads are 32 warps: one block, two thirds of the warps.
  capture::DeviceRecord device = h200();
  device.cc_major = 8;
  device.cc_minor = 6;
  device.max_blocks_per_sm = 16;
  device.max_threads_per_sm = 1536;
  device.shared_per_sm = 102400;
  device.shared_per_block_optin = 101376;
  const Occupancy result = theoretical_occupancy(device, function(1, "k", 32), key(1, {1, 1, 1}, {1024, 1, 1}));
  EXPECT_EQ(result.limit_blocks, 16U);
  EXPECT_EQ(result.blocks_per_sm, 1U);
  EXPECT_NEAR(result.percent, 66.667, 0.001);
}

TEST(TheoreticalOccupancy, AResourceNotUsedAllowsAllBlocks) {
  // GV100 (7.0) reserves no shared memory, so that a kernel may use none.
  capture::DeviceRecord device = h200();
  device.cc_major = 7;
  device.shared_per_sm = 98304;
  device.shared_reserved_per_block = 0;
  const Occupancy result = theoretical_occupancy(device, function(1, "k", 0), key(1, {1, 1, 1}, {32, 1, 1}));
  EXPECT_EQ(result.limit_registers, 32U);
  EXPECT_EQ(result.limit_shared, 32U);
  EXPECT_EQ(result.limiter, "blocks");
}

TEST(TheoreticalOccupancy, HopperAllocatesSixteenRegistersAtLeast) {
  // 16 registers * 32 = 512 a warp: 16,384 / 512 = 32 warps a partition, 128 in all.
  const Occupancy result = occupancy(function(1, "k", 8), key(1, {1, 1, 1}, {32, 1, 1}));
  EXPECT_EQ(result.registers_per_thread, 16U);
  EXPECT_EQ(result.limit_registers, 128U);
}

TEST(TheoreticalOccupancy, WavesOfAHugeGrid) {
  const Occupancy result = occupancy(function(1, "k", 32), key(1, {2147483647, 65535, 65535}, {256, 1, 1}));
  EXPECT_NEAR(result.waves, 2147483647.0 * 65535 * 65535 / 1056, 1.0e9);
}

TEST(TheoreticalOccupancy, RefusesWhatIsNotPossible) {
  const capture::FunctionRecord kernel = function(1, "k", 32);
  const capture::LaunchKey launch = key(1, {1, 1, 1}, {256, 1, 1});
  EXPECT_THROW((void)occupancy(kernel, key(1, {1, 1, 1}, {UINT32_MAX, UINT32_MAX, UINT32_MAX})), Error);
  EXPECT_THROW((void)occupancy(kernel, key(1, {1, 1, 1}, {0, 1, 1})), Error);
  EXPECT_THROW((void)occupancy(kernel, key(1, {1, 1, 1}, {1025, 1, 1})), Error);
  EXPECT_THROW((void)occupancy(function(1, "k", UINT32_MAX), launch), Error);
  EXPECT_THROW((void)occupancy(kernel, key(1, {1, 1, 1}, {256, 1, 1}, UINT32_MAX)), Error);
  EXPECT_THROW((void)theoretical_occupancy(capture::DeviceRecord{}, kernel, launch), Error);
  capture::DeviceRecord device = h200();
  for (const auto& [major, remedy] : {std::pair{99U, "Use a newer dlkprof."}, std::pair{6U, ""}}) {
    device.cc_major = major;
    try {
      (void)theoretical_occupancy(device, kernel, launch);
      ADD_FAILURE() << major;
    } catch (const Error& error) {
      EXPECT_EQ(error.remedy(), remedy);
    }
  }
  device = h200();
  device.warp_size = UINT32_MAX;
  EXPECT_THROW((void)theoretical_occupancy(device, kernel, launch), Error);
  capture::FunctionRecord carved = kernel;
  carved.shared_carveout_percent = 4000;
  EXPECT_THROW((void)occupancy(carved, launch), Error);
}

}  // namespace
}  // namespace dlkprof::model::occupancy_test
