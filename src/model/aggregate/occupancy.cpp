#include "model/aggregate/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/error.h"

namespace dlkprof::model {
namespace {

// What is far beyond any GPU is refused, so that no product of two overflows.
constexpr std::uint64_t kMaxThreads = 1U << 16;
constexpr std::uint64_t kMaxBlocks = 1U << 16;
constexpr std::uint64_t kMaxRegisters = 1U << 24;
constexpr std::uint64_t kMaxSharedBytes = 1U << 28;
constexpr std::uint64_t kMaxRegistersPerThread = 1U << 10;
constexpr std::uint64_t kMaxWarpSize = 1U << 10;

// --- What the CUDA C++ Programming Guide says of compute capabilities 7.0 to 12.x ---------------------------------------

constexpr std::uint32_t kOldest = 7, kNewest = 12;
constexpr std::uint32_t kMostRegisters = 256;                       // of one thread, as allocated
constexpr std::uint32_t kRegisterUnit = 256;                        // in which a warp gets registers
constexpr std::uint32_t kPartitions = 4;                            // of a multiprocessor; each has its share of the registers
constexpr std::uint64_t kVoltaSharedUnit = 256, kSharedUnit = 128;  // in which a block gets shared memory

// The sizes in KB to which a multiprocessor's shared memory can be set; each GPU has those that it has room for.
constexpr std::array<std::uint64_t, 2> kTuringShared{32, 64};
constexpr std::array<std::uint64_t, 6> kVoltaShared{0, 8, 16, 32, 64, 96};
constexpr std::array<std::uint64_t, 10> kShared{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

std::span<const std::uint64_t> shared_sizes(const capture::DeviceRecord& device) {
  if (device.cc_major >= 8) return kShared;
  if (device.cc_minor == 5) return kTuringShared;
  return kVoltaShared;
}

// ------------------------------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const std::string& why, const char* remedy = "") {
  throw Error("the occupancy of a launch cannot be computed", why, remedy);
}

std::uint32_t within(std::uint64_t value, std::uint64_t most, const char* what) {
  if (value > most) refuse(fmt::format("{} of {} is not possible", what, value));
  return static_cast<std::uint32_t>(value);
}

// Of what no GPU or function has none.
std::uint32_t some(std::uint64_t value, std::uint64_t most, const char* what) {
  if (value == 0) refuse(fmt::format("{} of 0 is not possible", what));
  return within(value, most, what);
}

// The threads of a block; extents are 32 bits each, so the product of two cannot overflow.
std::uint32_t threads_of(const capture::Dim3& block) {
  const std::uint64_t area = std::min(std::uint64_t{block.x} * block.y, kMaxThreads + 1);
  return some(area * block.z, kMaxThreads, "threads a block");
}

void check(const capture::DeviceRecord& device) {
  if (device.cc_major < kOldest || device.cc_major > kNewest) {
    const char* const remedy = device.cc_major > kNewest ? "Use a newer dlkprof." : "";
    refuse(fmt::format("compute capability {}.{} is not known", device.cc_major, device.cc_minor), remedy);
  }
  (void)some(device.max_threads_per_block, kMaxThreads, "threads a block");
  (void)some(device.max_threads_per_sm, kMaxThreads, "threads a multiprocessor");
  (void)some(device.max_blocks_per_sm, kMaxBlocks, "blocks a multiprocessor");
  (void)some(device.registers_per_block, kMaxRegisters, "registers a block");
  (void)some(device.registers_per_sm, kMaxRegisters, "registers a multiprocessor");
  (void)some(device.warp_size, kMaxWarpSize, "warp size");
  (void)some(device.shared_per_block, kMaxSharedBytes, "shared memory a block in bytes");
  (void)some(device.shared_per_sm, kMaxSharedBytes, "shared memory a multiprocessor in bytes");
  (void)some(device.sm_count, kMaxThreads, "number of multiprocessors");
}

// What a thread gets, which may be more than its code names: Nsight Compute 2025.3 shows at least 16 on GH100 (for kernels
// that the driver says use 8, 10, 11 and 14), and their register limit follows from that.
std::uint32_t allocated_registers(const capture::DeviceRecord& device, const capture::FunctionRecord& function) {
  const std::uint32_t named = within(function.registers_per_thread, kMaxRegistersPerThread, "registers a thread");
  constexpr std::uint32_t kLeastOnHopper = 16;
  return device.cc_major == 9 ? std::max(named, kLeastOnHopper) : named;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

// The resident blocks that a resource allows; 0 where one block does not get what it needs.
constexpr std::uint32_t kNotUsed = UINT32_MAX;

std::uint32_t blocks_by_warps(const capture::DeviceRecord& device, std::uint32_t block_threads, std::uint32_t block_warps) {
  return block_threads > device.max_threads_per_block ? 0 : device.max_threads_per_sm / device.warp_size / block_warps;
}

std::uint32_t blocks_by_registers(const capture::DeviceRecord& device, std::uint32_t registers, std::uint32_t block_warps) {
  if (registers == 0) return kNotUsed;
  const std::uint64_t of_warp = round_up(std::uint64_t{registers} * device.warp_size, kRegisterUnit);
  // Whether a launch is allowed goes by as many warps in each partition.
  const std::uint64_t of_block = of_warp * round_up(block_warps, kPartitions);
  if (registers > kMostRegisters || of_block > device.registers_per_block) return 0;
  const std::uint64_t warps = device.registers_per_sm / kPartitions / of_warp * kPartitions;
  return static_cast<std::uint32_t>(warps / block_warps);
}

// The least size that shared memory can be set to and that has room for `bytes`.
std::uint64_t shared_with_room_for(const capture::DeviceRecord& device, std::uint64_t bytes) {
  for (const std::uint64_t kilobytes : shared_sizes(device)) {
    if (kilobytes * 1024 >= bytes) return std::min<std::uint64_t>(kilobytes * 1024, device.shared_per_sm);
  }
  return device.shared_per_sm;
}

// `used`: by a block, with what the driver reserves.
std::uint32_t blocks_by_shared(const capture::DeviceRecord& device, std::uint64_t used, std::int32_t carveout_percent) {
  constexpr std::int32_t kDriversChoice = -1, kAll = 100;
  if (carveout_percent < kDriversChoice || carveout_percent > kAll)
    refuse(fmt::format("{} % of shared memory are not possible", carveout_percent));
  const std::uint64_t of_block = round_up(used, device.cc_major >= 8 ? kSharedUnit : kVoltaSharedUnit);
  // The launch did run, so the function was allowed what has to be asked for.
  const std::uint64_t allowed = used > device.shared_per_block ? device.shared_per_block_optin : device.shared_per_block;
  if (of_block > allowed + (device.cc_major >= 8 ? device.shared_reserved_per_block : 0)) return 0;
  if (of_block == 0) return kNotUsed;
  const std::uint64_t preferred = carveout_percent == kDriversChoice
                                      ? device.shared_per_sm
                                      : std::uint64_t{device.shared_per_sm} * static_cast<std::uint32_t>(carveout_percent) / 100;
  return static_cast<std::uint32_t>(shared_with_room_for(device, std::max(preferred, of_block)) / of_block);
}

std::string limiters(const Occupancy& occupancy) {
  std::string text;
  for (const auto& [limit, word] :
       {std::pair{occupancy.limit_registers, "registers"}, std::pair{occupancy.limit_shared, "shared memory"},
        std::pair{occupancy.limit_warps, "warps"}, std::pair{occupancy.limit_blocks, "blocks"}}) {
    if (limit == occupancy.blocks_per_sm) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  }
  return text;
}

}  // namespace

Occupancy theoretical_occupancy(const capture::DeviceRecord& device, const capture::FunctionRecord& function,
                                const capture::LaunchKey& launch) {
  check(device);
  (void)some(function.max_threads_per_block, kMaxThreads, "threads a block");
  const std::uint32_t block_threads = threads_of(launch.block);
  const std::uint32_t block_warps = (block_threads + device.warp_size - 1) / device.warp_size;

  Occupancy occupancy;
  occupancy.shared_per_block =
      std::uint64_t{function.static_shared_bytes} + launch.dynamic_shared_bytes + device.shared_reserved_per_block;
  (void)within(occupancy.shared_per_block, kMaxSharedBytes, "shared memory a block in bytes");
  occupancy.registers_per_thread = allocated_registers(device, function);
  occupancy.limit_registers = blocks_by_registers(device, occupancy.registers_per_thread, block_warps);
  occupancy.limit_shared = blocks_by_shared(device, occupancy.shared_per_block, function.shared_carveout_percent);
  occupancy.limit_warps = blocks_by_warps(device, block_threads, block_warps);
  occupancy.limit_blocks = device.max_blocks_per_sm;
  occupancy.blocks_per_sm =
      std::min({occupancy.limit_registers, occupancy.limit_shared, occupancy.limit_warps, occupancy.limit_blocks});
  if (occupancy.blocks_per_sm == 0) refuse("no block of this size fits on a multiprocessor");
  occupancy.limiter = limiters(occupancy);
  for (std::uint32_t* limit : {&occupancy.limit_registers, &occupancy.limit_shared}) {
    if (*limit == kNotUsed) *limit = occupancy.limit_blocks;
  }

  occupancy.warps_per_sm = occupancy.blocks_per_sm * block_warps;
  occupancy.percent = 100.0 * occupancy.warps_per_sm / (device.max_threads_per_sm / device.warp_size);
  const double blocks = double{1} * launch.grid.x * launch.grid.y * launch.grid.z;
  occupancy.waves = blocks / (double{1} * device.sm_count * occupancy.blocks_per_sm);
  return occupancy;
}

}  // namespace dlkprof::model
