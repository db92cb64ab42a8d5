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

Figures compute_figures(const Run& run, const Launch& measured) {
  const capture::LaunchKey& launch = measured.record.key;
  Figures figures;
  add_launch(figures, launch);
  const auto device = run.devices.find(launch.device);
  const auto function = run.functions.find(launch.function);
  if (device != run.devices.end()) figures["driver_shared_bytes"] = double{1} * device->second.shared_reserved_per_block;
  if (function != run.functions.end()) add_function(figures, function->second.record);
  if (device == run.devices.end() || function == run.functions.end()) return figures;
  try {
    add_occupancy(figures, theoretical_occupancy(device->second, function->second.record, launch));
  } catch (const Error&) {
    // Left empty: an occupancy that cannot be computed is not guessed.
  }
  return figures;
}

}  // namespace dlkprof::model
