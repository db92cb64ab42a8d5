#include "model/aggregate/occupancy.h"

#include <cuda_occupancy.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "base/error.h"

namespace dlkprof::model {
namespace {

// cuda_occupancy.h multiplies these as int: what is far beyond any GPU is refused before it can overflow there.
constexpr std::uint64_t kMaxThreads = 1U << 16;
constexpr std::uint64_t kMaxRegisters = 1U << 24;
constexpr std::uint64_t kMaxSharedBytes = 1U << 28;
constexpr std::uint64_t kMaxRegistersPerThread = 1U << 10;
constexpr std::uint64_t kMaxWarpSize = 1U << 10;

int within(std::uint64_t value, std::uint64_t most, const char* what) {
  if (value > most) {
    throw Error("the occupancy of a launch cannot be computed", fmt::format("{} of {} is not possible", what, value), "");
  }
  return static_cast<int>(value);
}

// The threads of a block; extents are 32 bits each, so the product of two cannot overflow.
int threads_of(const capture::Dim3& block) {
  const std::uint64_t area = std::min(std::uint64_t{block.x} * block.y, kMaxThreads + 1);
  return within(area * block.z, kMaxThreads, "threads a block");
}

cudaOccDeviceProp device_properties(const capture::DeviceRecord& device) {
  cudaOccDeviceProp properties;
  properties.computeMajor = within(device.cc_major, 1000, "compute capability");
  properties.computeMinor = within(device.cc_minor, 1000, "compute capability");
  properties.maxThreadsPerBlock = within(device.max_threads_per_block, kMaxThreads, "threads a block");
  properties.maxThreadsPerMultiprocessor = within(device.max_threads_per_sm, kMaxThreads, "threads a multiprocessor");
  properties.regsPerBlock = within(device.registers_per_block, kMaxRegisters, "registers a block");
  properties.regsPerMultiprocessor = within(device.registers_per_sm, kMaxRegisters, "registers a multiprocessor");
  properties.warpSize = within(device.warp_size, kMaxWarpSize, "warp size");
  properties.sharedMemPerBlock = device.shared_per_block;
  properties.sharedMemPerMultiprocessor = device.shared_per_sm;
  properties.numSms = within(device.sm_count, kMaxThreads, "number of multiprocessors");
  properties.sharedMemPerBlockOptin = device.shared_per_block_optin;
  properties.reservedSharedMemPerBlock = device.shared_reserved_per_block;
  return properties;
}

// What a thread gets, which may be more than its code names: Nsight Compute 2025.3 shows at least 16 on GH100 (for kernels
// that the driver says use 8, 10, 11 and 14), and their register limit follows from that.
std::uint32_t allocated_registers(const capture::DeviceRecord& device, const capture::FunctionRecord& function) {
  const auto named =
      static_cast<std::uint32_t>(within(function.registers_per_thread, kMaxRegistersPerThread, "registers a thread"));
  constexpr std::uint32_t kLeastOnHopper = 16;
  return device.cc_major == 9 ? std::max(named, kLeastOnHopper) : named;
}

cudaOccFuncAttributes function_attributes(const capture::DeviceRecord& device, const capture::FunctionRecord& function,
                                          const capture::LaunchKey& launch) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = within(function.max_threads_per_block, kMaxThreads, "threads a block");
  attributes.numRegs = static_cast<int>(allocated_registers(device, function));
  attributes.sharedSizeBytes = function.static_shared_bytes;
  // The launch did run, so the function was allowed this much.
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = launch.dynamic_shared_bytes;
  attributes.numBlockBarriers = 1;
  return attributes;
}

std::string words(unsigned int limiting_factors) {
  constexpr std::array<std::pair<unsigned int, const char*>, 4> kWords{{{OCC_LIMIT_REGISTERS, "registers"},
                                                                        {OCC_LIMIT_SHARED_MEMORY, "shared memory"},
                                                                        {OCC_LIMIT_WARPS, "warps"},
                                                                        {OCC_LIMIT_BLOCKS, "blocks"}}};
  std::string text;
  for (const auto& [factor, word] : kWords) {
    if ((limiting_factors & factor) == 0) continue;
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

cudaOccResult calculate(const cudaOccDeviceProp& properties, const cudaOccFuncAttributes& attributes, int carveout,
                        int block_threads, std::size_t dynamic_shared) {
  cudaOccDeviceState state;
  state.carveoutConfig = carveout;
  cudaOccResult result{};
  switch (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, block_threads, dynamic_shared)) {
    case CUDA_OCC_SUCCESS:
      break;
    case CUDA_OCC_ERROR_UNKNOWN_DEVICE:
      throw Error(
          "the occupancy of a launch cannot be computed",
          fmt::format("cuda_occupancy.h knows no compute capability {}.{}", properties.computeMajor, properties.computeMinor),
          "Build dlkprof with a newer CUDA Toolkit.");
    default:
      throw Error("the occupancy of a launch cannot be computed", "cuda_occupancy.h: its launch figures are not possible", "");
  }
  if (result.activeBlocksPerMultiprocessor <= 0) {
    throw Error("the occupancy of a launch cannot be computed", "no block of this size fits on a multiprocessor", "");
  }
  return result;
}

}  // namespace

Occupancy theoretical_occupancy(const capture::DeviceRecord& device, const capture::FunctionRecord& function,
                                const capture::LaunchKey& launch) {
  const cudaOccDeviceProp properties = device_properties(device);
  const cudaOccFuncAttributes attributes = function_attributes(device, function, launch);
  const int block_threads = threads_of(launch.block);

  Occupancy occupancy;
  occupancy.shared_per_block =
      std::uint64_t{function.static_shared_bytes} + launch.dynamic_shared_bytes + device.shared_reserved_per_block;
  (void)within(occupancy.shared_per_block, kMaxSharedBytes, "shared memory a block in bytes");
  const cudaOccResult result =
      calculate(properties, attributes, function.shared_carveout_percent, block_threads, launch.dynamic_shared_bytes);

  const auto limit = [&](int blocks) { return static_cast<std::uint32_t>(blocks == INT_MAX ? result.blockLimitBlocks : blocks); };
  occupancy.registers_per_thread = static_cast<std::uint32_t>(attributes.numRegs);
  occupancy.limit_registers = limit(result.blockLimitRegs);
  occupancy.limit_warps = limit(result.blockLimitWarps);
  occupancy.limit_blocks = limit(result.blockLimitBlocks);
  occupancy.limit_shared = limit(result.blockLimitSharedMem);
  occupancy.limiter = words(result.limitingFactors);

  const auto warps_per_block = static_cast<std::uint32_t>((block_threads + properties.warpSize - 1) / properties.warpSize);
  const std::uint32_t max_warps = device.max_threads_per_sm / device.warp_size;
  occupancy.blocks_per_sm = limit(result.activeBlocksPerMultiprocessor);
  occupancy.warps_per_sm = occupancy.blocks_per_sm * warps_per_block;
  occupancy.percent = 100.0 * occupancy.warps_per_sm / max_warps;
  const double blocks = double{1} * launch.grid.x * launch.grid.y * launch.grid.z;
  occupancy.waves = blocks / (double{1} * device.sm_count * occupancy.blocks_per_sm);
  return occupancy;
}

}  // namespace dlkprof::model
