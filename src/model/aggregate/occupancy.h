// Theoretical occupancy of a launch from launch figures alone, by the rules that the CUDA C++ Programming Guide gives. Computed
// here rather than by the toolkit's cuda_occupancy.h, so that reading captures builds without a toolkit; a test compares them.
#pragma once

#include <cstdint>
#include <string>

#include "dlkprof/capture_format.h"

namespace dlkprof::model {

struct Occupancy {
  // Resident blocks a multiprocessor that each resource alone would allow. A resource that the kernel does not use
  // allows limit_blocks. limit_shared goes by
  // the largest shared memory that a multiprocessor can have. The limit by barriers is left out: the driver does not say how many
  // a kernel uses.
  std::uint32_t limit_registers = 0, limit_shared = 0, limit_warps = 0, limit_blocks = 0;
  std::uint32_t registers_per_thread = 0;  // as allocated
  std::uint32_t blocks_per_sm = 0;         // the least of them
  std::uint32_t warps_per_sm = 0;          // theoretical active warps a multiprocessor
  double percent = 0;                      // of the device's maximum
  double waves = 0;                        // grid size over what the device holds at once
  std::uint64_t shared_per_block = 0;      // bytes: static, dynamic and what the driver reserves
  std::string limiter;                     // "registers", "shared memory", ... ; several joined by ", "
};

// Throws Error where the compute capability is not known or the figures are not possible.
[[nodiscard]] Occupancy theoretical_occupancy(const capture::DeviceRecord& device, const capture::FunctionRecord& function,
                                              const capture::LaunchKey& launch);

}  // namespace dlkprof::model
