#include "model/aggregate/computed.h"

#include "base/error.h"
#include "model/aggregate/occupancy.h"

namespace dlkprof::model {
namespace {

using Figures = std::map<std::string, FigureValue>;

double volume(const capture::Dim3& size) { return double{1} * size.x * size.y * size.z; }

void add_launch(Figures& figures, const capture::LaunchKey& launch) {
  figures["grid_size"] = volume(launch.grid);
  figures["block_size"] = volume(launch.block);
  figures["cluster_size"] = volume(launch.cluster);
  figures["threads"] = volume(launch.grid) * volume(launch.block);
  figures["dynamic_shared_bytes"] = double{1} * launch.dynamic_shared_bytes;
}

void add_function(Figures& figures, const capture::FunctionRecord& function) {
  figures["registers_per_thread"] = double{1} * function.registers_per_thread;
  figures["static_shared_bytes"] = double{1} * function.static_shared_bytes;
  figures["local_bytes_per_thread"] = double{1} * function.local_bytes_per_thread;
}

void add_occupancy(Figures& figures, const Occupancy& occupancy) {
  figures["registers_per_thread"] = double{1} * occupancy.registers_per_thread;
  figures["waves_per_sm"] = occupancy.waves;
  figures["theoretical_occupancy_pct"] = occupancy.percent;
  figures["theoretical_warps_per_sm"] = double{1} * occupancy.warps_per_sm;
  figures["block_limit_registers"] = double{1} * occupancy.limit_registers;
  figures["block_limit_shared"] = double{1} * occupancy.limit_shared;
  figures["block_limit_warps"] = double{1} * occupancy.limit_warps;
  figures["block_limit_blocks"] = double{1} * occupancy.limit_blocks;
  figures["occupancy_limiter"] = occupancy.limiter;
}

}  // namespace

const std::vector<ComputedFigure>& computed_figures() {
  static const std::vector<ComputedFigure> kFigures{
      {"grid_size", "block"},
      {"block_size", "thread"},
      {"cluster_size", "block"},
      {"threads", "thread"},
      {"registers_per_thread", "register/thread"},
      {"static_shared_bytes", "byte/block"},
      {"dynamic_shared_bytes", "byte/block"},
      {"driver_shared_bytes", "byte/block"},
      {"local_bytes_per_thread", "byte/thread"},
      {"waves_per_sm", ""},
      {"theoretical_occupancy_pct", "%"},
      {"theoretical_warps_per_sm", "warp"},
      {"block_limit_registers", "block"},
      {"block_limit_shared", "block"},
      {"block_limit_warps", "block"},
      {"block_limit_blocks", "block"},
      {"occupancy_limiter", ""},
  };
  return kFigures;
}

Figures compute_figures(const Timeline& timeline, const Config& config) {
  Figures figures;
  add_launch(figures, config.key);
  const capture::DeviceRecord* device = device_of(timeline, config);
  const capture::FunctionRecord* function = function_of(timeline, config);
  if (device != nullptr) figures["driver_shared_bytes"] = double{1} * device->shared_reserved_per_block;
  if (function != nullptr) add_function(figures, *function);
  if (device == nullptr || function == nullptr) return figures;
  try {
    add_occupancy(figures, theoretical_occupancy(*device, *function, config.key));
  } catch (const Error&) {
    // Left empty: an occupancy that cannot be computed is not guessed.
  }
  return figures;
}

}  // namespace dlkprof::model
