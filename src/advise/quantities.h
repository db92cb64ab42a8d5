// What is asked of counters, whatever NVPerf calls it on a chip: each quantity with the metrics that answer it, and the section
// of metrics/ that collects them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/aggregate/metric_map.h"

namespace dlkprof::advise {

enum class Quantity : std::uint8_t {
  achieved_occupancy,  // % of the warps that a multiprocessor can hold, while it is active
  theoretical_occupancy,
  tensor_pipe,  // % of its active cycles
  tensor_pipe_elapsed,
  sm_throughput,      // % of peak
  memory_throughput,  // % of peak, of whichever part of the memory system is nearest to it
  dram_throughput,    // % of peak
  l2_throughput,
  l1_throughput,
  duration,  // ns
  dram_bytes,
  dram_read,
  dram_written,
  dram_rate,  // byte/s
  l2_bytes,
  l2_rate,
  l2_hit_rate,  // %
  l1_bytes,
  l1_rate,
  l1_hit_rate,
  sectors_per_load,  // 32-byte sectors a request of a warp to global memory
  sectors_per_store,
  local_loaded,  // bytes
  local_stored,
  shared_wavefronts,
  bank_conflicts,
  active_cycles,     // mean over multiprocessors
  most_active,       // of any multiprocessor
  elapsed_cycles,    // most of any GPC
  warp_latency,      // warp cycles an instruction issued
  active_threads,    // of a warp, an instruction
  unmasked_threads,  // of these, those that no predicate turns off
  issue_active,      // % of the cycles in which a scheduler issues an instruction
  issued_of_peak,    // % of the instructions that a multiprocessor could issue
  fp64_pipe,         // % of its active cycles
  xu_pipe,           // likewise, of special functions and conversions
};

using Values = model::MetricMap<double>;

// None where its metrics were not measured, or gave no number.
[[nodiscard]] std::optional<double> find(const Values& values, Quantity quantity);

// The section that collects it: "speed_of_light".
[[nodiscard]] const char* section_of(Quantity quantity);

// For the test that the sections of metrics/ do collect them.
struct QuantitySource {
  Quantity quantity;
  const char* section;
  std::vector<std::vector<const char*>> alternatives;  // best first; each is a sum of metrics
};
[[nodiscard]] const std::vector<QuantitySource>& quantity_sources();
[[nodiscard]] const QuantitySource& quantity_source(Quantity quantity);

}  // namespace dlkprof::advise
