#include "advise/occupancy_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/rule_parts.h"
#include "base/error.h"

namespace dlkprof::advise {
namespace {

using model::Occupancy;

// Warps are allocated whole, registers in units of 8 a thread and shared memory in units of at least 128 bytes a block, on all
// GPUs that model/aggregate/occupancy.cpp knows.
constexpr std::uint32_t kRegisterUnit = 8;
constexpr std::uint64_t kSharedUnit = 128;
constexpr std::uint64_t kCurveSharedUnit = 1024;
constexpr double kLowPercent = 50;  // of theoretical occupancies those to be explained
constexpr std::uint32_t kMostRegisters = 255;
constexpr std::uint64_t kMostSharedBytes = std::uint64_t{1} << 20U;  // four times what any GPU has; keeps hostile figures short

// What theoretical occupancy follows from.
struct Launch {
  capture::DeviceRecord device;
  capture::FunctionRecord function;
  capture::LaunchKey key;

  [[nodiscard]] std::uint64_t shared_bytes() const {
    return std::uint64_t{function.static_shared_bytes} + key.dynamic_shared_bytes;
  }
  void set_shared_bytes(std::uint64_t bytes) {
    function.static_shared_bytes = 0;
    key.dynamic_shared_bytes = static_cast<std::uint32_t>(bytes);
  }
};

std::optional<Launch> launch_of(const model::Timeline& timeline, const ConfigUse& use) {
  const model::Config& config = timeline.configs[use.config];
  const capture::FunctionRecord* function = function_of(timeline, config);
  if (function == nullptr || use.device >= timeline.devices.size()) return std::nullopt;
  return Launch{timeline.devices[use.device].record, *function, config.key};
}

std::optional<Occupancy> occupancy_of(const Launch& launch) {
  try {
    return model::theoretical_occupancy(launch.device, launch.function, launch.key);
  } catch (const Error&) {
    return std::nullopt;  // what cannot run has none
  }
}

// The largest number of registers a thread below that of the launch with which they allow `blocks`.
std::optional<std::uint32_t> registers_for(Launch launch, std::uint32_t blocks) {
  for (std::uint32_t registers = std::min(launch.function.registers_per_thread, kMostRegisters); registers > 0; --registers) {
    launch.function.registers_per_thread = registers;
    const auto occupancy = occupancy_of(launch);
    if (occupancy && occupancy->limit_registers >= blocks) return registers;
  }
  return std::nullopt;
}

// Likewise of shared memory, in units of its allocation. A launch may have less of it with a preferred carveout, so that all
// are tried.
std::optional<std::uint64_t> shared_for(Launch launch, std::uint32_t blocks) {
  if (launch.shared_bytes() > kMostSharedBytes) return std::nullopt;
  for (std::uint64_t bytes = launch.shared_bytes() / kSharedUnit * kSharedUnit;; bytes -= kSharedUnit) {
    launch.set_shared_bytes(bytes);
    const auto occupancy = occupancy_of(launch);
    if (occupancy && occupancy->limit_shared >= blocks) return bytes;
    if (bytes < kSharedUnit) return std::nullopt;
  }
}

std::optional<OccupancyStep> find_step(const Launch& launch, const Occupancy& now) {
  const std::uint32_t blocks = now.blocks_per_sm + 1;
  if (now.limit_warps < blocks || now.limit_blocks < blocks) return std::nullopt;
  OccupancyStep step;
  Launch changed = launch;
  if (now.limit_registers < blocks) {
    const auto registers = registers_for(launch, blocks);
    if (!registers) return std::nullopt;
    step.registers_fewer = launch.function.registers_per_thread - *registers;
    changed.function.registers_per_thread = *registers;
  }
  if (now.limit_shared < blocks) {
    const auto bytes = shared_for(launch, blocks);
    if (!bytes) return std::nullopt;
    step.shared_bytes_fewer = launch.shared_bytes() - *bytes;
    changed.set_shared_bytes(*bytes);
  }
  const auto then = occupancy_of(changed);
  if (!then || then->percent <= now.percent) return std::nullopt;
  step.percent = then->percent;
  return step;
}

std::uint64_t threads_of_block(const capture::Dim3& block) { return std::uint64_t{block.x} * block.y * block.z; }

std::vector<CurvePoint> block_curve(Launch launch) {
  std::vector<CurvePoint> points;
  const std::uint32_t warp = std::max(launch.device.warp_size, 1U);
  const std::uint32_t most = std::min({launch.device.max_threads_per_block, launch.function.max_threads_per_block, 4096U});
  for (std::uint32_t threads = warp; threads <= most; threads += warp) {
    launch.key.block = {threads, 1, 1};
    if (const auto occupancy = occupancy_of(launch)) points.push_back({threads, occupancy->percent});
  }
  return points;
}

std::vector<CurvePoint> register_curve(Launch launch) {
  std::vector<CurvePoint> points;
  for (std::uint32_t registers = kRegisterUnit; registers < kMostRegisters + kRegisterUnit; registers += kRegisterUnit) {
    launch.function.registers_per_thread = std::min(registers, kMostRegisters);
    if (const auto occupancy = occupancy_of(launch)) points.push_back({launch.function.registers_per_thread, occupancy->percent});
  }
  return points;
}

std::vector<CurvePoint> shared_curve(Launch launch) {
  std::vector<CurvePoint> points;
  const std::uint64_t most = std::min<std::uint64_t>(launch.device.shared_per_block_optin, kMostSharedBytes);
  for (std::uint64_t bytes = 0; bytes <= most; bytes += kCurveSharedUnit) {
    launch.set_shared_bytes(bytes);
    if (const auto occupancy = occupancy_of(launch)) points.push_back({bytes, occupancy->percent});
  }
  return points;
}

void find_better_block(const Launch& launch, const Occupancy& now, OccupancyAdvice& advice) {
  const auto is_now = static_cast<double>(threads_of_block(launch.key.block));
  double nearest = 0;
  for (const CurvePoint& point : block_curve(launch)) {
    const double distance = std::abs(static_cast<double>(point.x) - is_now);
    const bool better = point.percent > std::max(now.percent, advice.better_block_percent);
    const bool nearer = point.percent > now.percent && point.percent == advice.better_block_percent && distance < nearest;
    if (!better && !nearer) continue;
    nearest = distance;
    advice.better_block_percent = point.percent;
    advice.better_block_threads = static_cast<std::uint32_t>(point.x);
  }
}

// What follows from the size of the grid: `waves` and the shares of multiprocessors.
void add_grid(const Launch& launch, const Occupancy& now, OccupancyAdvice& advice) {
  const auto blocks = static_cast<double>(advice.blocks);
  const double sms = launch.device.sm_count;
  if (blocks <= 0 || sms <= 0 || !(now.waves > 0)) return;
  advice.idle_sms_percent = 100 * std::max(0.0, 1 - blocks / sms);
  if (now.waves >= 1) advice.tail_percent = 100 * (1 - now.waves / std::ceil(now.waves));
  const double held = std::min<double>(now.blocks_per_sm, blocks / std::min(blocks, sms));
  advice.grid_percent = now.percent * held / now.blocks_per_sm;
}

// Only where occupancy is what limits, and somebody can change it.
void find_change(const model::Kernel& kernel, const Launch& launch, const Occupancy& now, OccupancyAdvice& advice) {
  if (is_library_kernel(kernel)) {
    advice.no_step = "library kernel: its registers and shared memory are fixed";
  } else if (now.waves > 0 && now.waves < 1) {
    advice.no_step = "none: the grid does not fill one wave, so that no block is left to add";
  } else {
    advice.step = find_step(launch, now);
    find_better_block(launch, now, advice);
  }
}

OccupancyGap find_gap(const OccupancyAdvice& advice, const ConfigUse& use) {
  if (!advice.theoretical || !advice.achieved) return OccupancyGap::unknown;
  const double gap = advice.theoretical->percent - *advice.achieved;
  const bool near = 100 * *advice.achieved >= kLeastOfTheoretical * advice.theoretical->percent;
  if (gap <= kOccupancyGapPoints && near) return OccupancyGap::none;
  // What explains at least half of it is its reason.
  const auto explains = [gap](double points) { return points >= gap / 2; };
  if (advice.grid_percent && explains(advice.theoretical->percent - *advice.grid_percent)) return OccupancyGap::grid_too_small;
  const auto active = find(use.values, Quantity::active_cycles);
  const auto elapsed = find(use.values, Quantity::elapsed_cycles);
  const auto duration = find(use.values, Quantity::duration);
  const bool mostly_idle = active && elapsed && *elapsed > 0 && 100 * *active / *elapsed < kLeastActivePercent;
  if (mostly_idle && duration && *duration < kShortKernelNs) return OccupancyGap::short_kernel;
  if (advice.tail_percent && explains(advice.theoretical->percent * *advice.tail_percent / 100)) return OccupancyGap::tail;
  return OccupancyGap::imbalance;
}

std::uint64_t blocks_of_grid(const capture::Dim3& grid) {
  const std::uint64_t area = std::uint64_t{grid.x} * grid.y;  // of 32 bits each
  std::uint64_t blocks = 0;
  return __builtin_mul_overflow(area, std::uint64_t{grid.z}, &blocks) ? ~std::uint64_t{0} : blocks;
}

}  // namespace

OccupancyAdvice advise_occupancy(const model::Timeline& timeline, const ConfigUse& use) {
  OccupancyAdvice advice;
  advice.blocks = blocks_of_grid(timeline.configs[use.config].key.grid);
  advice.achieved = find(use.values, Quantity::achieved_occupancy);
  const auto launch = launch_of(timeline, use);
  if (!launch) return advice;
  advice.theoretical = occupancy_of(*launch);
  if (!advice.theoretical) return advice;
  add_grid(*launch, *advice.theoretical, advice);
  find_change(timeline.kernels[use.kernel], *launch, *advice.theoretical, advice);
  advice.gap = find_gap(advice, use);
  return advice;
}

std::string step_text(const OccupancyAdvice& advice) {
  if (!advice.step || !advice.theoretical) return advice.no_step;
  const auto count = [](std::uint64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  std::string text;
  if (advice.step->registers_fewer > 0) text = count(advice.step->registers_fewer, "register") + " fewer a thread";
  if (advice.step->shared_bytes_fewer > 0) {
    text += (text.empty() ? "" : " and ") + count(advice.step->shared_bytes_fewer, "byte") + " less shared memory a block";
  }
  return fmt::format("{}: {:.4g} % -> {:.4g} %", text, advice.theoretical->percent, advice.step->percent);
}

namespace {

// Of the time in which a kernel runs; "" where multiprocessors are active in most of it, or it is not known.
std::string active_text(const ConfigUse& use) {
  const auto active = find(use.values, Quantity::active_cycles);
  const auto elapsed = find(use.values, Quantity::elapsed_cycles);
  if (!active || !elapsed || !(*elapsed > 0) || 100 * *active / *elapsed >= kLeastActivePercent) return "";
  return fmt::format("; multiprocessors are active for {:.3g} % of the cycles", 100 * *active / *elapsed);
}

}  // namespace

std::string gap_text(const OccupancyAdvice& advice, const ConfigUse& use) {
  switch (advice.gap) {
    case OccupancyGap::unknown:
      return "";
    case OccupancyGap::none:
      if (advice.theoretical->percent > kLowPercent) return "none";
      return fmt::format("none: it is near the theoretical one, which {} limit{}", advice.theoretical->limiter, active_text(use));
    case OccupancyGap::grid_too_small:
      return fmt::format("grid too small: its {} blocks allow {:.3g} % at most", advice.blocks, *advice.grid_percent);
    case OccupancyGap::short_kernel:
      return fmt::format("short kernel: {:.3g} us, in which multiprocessors were active for {:.3g} % of the cycles",
                         *find(use.values, Quantity::duration) / 1000,
                         100 * *find(use.values, Quantity::active_cycles) / *find(use.values, Quantity::elapsed_cycles));
    case OccupancyGap::tail:
      return fmt::format("tail: of {:.3g} waves the last is not full, which takes {:.3g} % of the time of whole waves",
                         advice.theoretical->waves, *advice.tail_percent);
    case OccupancyGap::imbalance:
      return fmt::format("imbalance: {:.3g} points that neither the grid nor the tail explain{}",
                         advice.theoretical->percent - *advice.achieved, active_text(use));
  }
  return "";
}

std::vector<CurvePoint> occupancy_curve(const model::Timeline& timeline, const ConfigUse& use, CurveOf what) {
  const auto launch = launch_of(timeline, use);
  if (!launch || !occupancy_of(*launch)) return {};
  switch (what) {
    case CurveOf::block_size:
      return block_curve(*launch);
    case CurveOf::registers:
      return register_curve(*launch);
    case CurveOf::shared_memory:
      return shared_curve(*launch);
  }
  return {};
}

}  // namespace dlkprof::advise
