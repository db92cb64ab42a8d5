#include "advise/quantities.h"

#include <algorithm>
#include <cmath>

#include "model/aggregate/config_counters.h"

namespace dlkprof::advise {
namespace {

// Cheap counters: those of the set quick that need no read-out of each multiprocessor.
constexpr const char* kCheapTensorPipe =
    "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kCheapActiveShare = "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed";

std::optional<double> sum_of(const Values& values, const std::vector<const char*>& metrics) {
  double sum = 0;
  for (const char* metric : metrics) {
    const auto found = values.find(metric);
    if (found == values.end() || !std::isfinite(found->second)) return std::nullopt;
    sum += found->second;
  }
  return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

// Of active cycles: NVPerf would read the active cycles of each multiprocessor for that, where the share of them says the same.
std::optional<double> cheap_tensor_pipe(const Values& values) {
  const auto elapsed = sum_of(values, {kCheapTensorPipe});
  const auto active = sum_of(values, {kCheapActiveShare});
  if (!elapsed || !active || *active <= 0) return std::nullopt;
  return 100 * *elapsed / *active;
}

// Names are those of metrics/sections.
std::vector<QuantitySource> pipe_sources() {
  using enum Quantity;
  return {
      {achieved_occupancy, "occupancy", {{"sm__warps_active.avg.pct_of_peak_sustained_active"}, {model::kAchievedOccupancy}}},
      {theoretical_occupancy, "occupancy", {{"theoretical_occupancy_pct"}, {"sm__maximum_warps_per_active_cycle_pct"}}},
      {tensor_pipe,
       "tensor",
       {{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active"},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
        {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_active"}}},
      {tensor_pipe_elapsed,
       "tensor",
       {{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_elapsed"},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
        {kCheapTensorPipe}}},
      {sm_throughput, "speed_of_light", {{"sm__throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {memory_throughput, "speed_of_light", {{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {dram_throughput,
       "speed_of_light",
       {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}, {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {l2_throughput, "speed_of_light", {{"lts__throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {l1_throughput,
       "speed_of_light",
       {{"l1tex__throughput.avg.pct_of_peak_sustained_active"}, {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {duration, "speed_of_light", {{"gpu__time_duration.sum"}}},
      {active_cycles, "speed_of_light", {{"sm__cycles_active.avg"}, {"TPC.TriageCompute.sm__cycles_active.avg"}}},
      {most_active, "speed_of_light", {{"sm__cycles_active.max"}}},
      {elapsed_cycles, "speed_of_light", {{"gpc__cycles_elapsed.max"}}},
      {warp_latency, "stall", {{"smsp__average_warp_latency_per_inst_issued.ratio"}}},
      {active_threads,
       "stall",
       {{"smsp__average_thread_inst_executed_per_inst_executed.ratio"}, {"smsp__thread_inst_executed_per_inst_executed.ratio"}}},
  };
}

std::vector<QuantitySource> issue_sources() {
  using enum Quantity;
  return {
      {unmasked_threads,
       "instruction",
       {{"smsp__average_thread_inst_executed_pred_on_per_inst_executed.ratio"},
        {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"}}},
      {issue_active, "scheduler", {{"smsp__issue_active.avg.pct_of_peak_sustained_active"}}},
      {issued_of_peak, "compute", {{"sm__inst_issued.avg.pct_of_peak_sustained_active"}}},
      {fp64_pipe, "compute", {{"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"}}},
      {xu_pipe, "compute", {{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"}}},
  };
}

std::vector<QuantitySource> memory_sources() {
  using enum Quantity;
  return {
      {dram_bytes,
       "memory",
       {{"dram__bytes.sum"},
        {"dram__bytes_read.sum", "dram__bytes_write.sum"},
        {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}}},
      {dram_read, "memory", {{"dram__bytes_read.sum"}, {"dram__bytes_op_read.sum"}}},
      {dram_written, "memory", {{"dram__bytes_write.sum"}, {"dram__bytes_op_write.sum"}}},
      {dram_rate,
       "memory",
       {{"dram__bytes.sum.per_second"},
        {"dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second"},
        {"dram__bytes_op_read.sum.per_second", "dram__bytes_op_write.sum.per_second"}}},
      {l2_bytes, "memory", {{"lts__t_bytes.sum"}}},
      {l2_rate, "memory", {{"lts__t_bytes.sum.per_second"}}},
      {l2_hit_rate, "memory", {{"lts__t_sector_hit_rate.pct"}}},
      {l1_bytes, "memory", {{"l1tex__t_bytes.sum"}}},
      {l1_rate, "memory", {{"l1tex__t_bytes.sum.per_second"}}},
      {l1_hit_rate, "memory", {{"l1tex__t_sector_hit_rate.pct"}}},
      {sectors_per_load, "memory", {{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"}}},
      {sectors_per_store, "memory", {{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"}}},
      {local_loaded, "memory", {{"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"}}},
      {local_stored, "memory", {{"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"}}},
      {shared_wavefronts, "memory", {{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}}},
      {bank_conflicts, "memory", {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}}},
  };
}

}  // namespace

const std::vector<QuantitySource>& quantity_sources() {
  static const std::vector<QuantitySource> kSources = [] {
    std::vector<QuantitySource> sources = pipe_sources();
    for (const auto& more : {issue_sources(), memory_sources()}) sources.insert(sources.end(), more.begin(), more.end());
    return sources;
  }();
  return kSources;
}

const QuantitySource& quantity_source(Quantity quantity) {
  const std::vector<QuantitySource>& sources = quantity_sources();
  return *std::find_if(sources.begin(), sources.end(),
                       [quantity](const QuantitySource& source) { return source.quantity == quantity; });
}

std::optional<double> find(const Values& values, Quantity quantity) {
  for (const std::vector<const char*>& metrics : quantity_source(quantity).alternatives) {
    if (const std::optional<double> sum = sum_of(values, metrics)) return sum;
  }
  return quantity == Quantity::tensor_pipe ? cheap_tensor_pipe(values) : std::nullopt;
}

const char* section_of(Quantity quantity) { return quantity_source(quantity).section; }

}  // namespace dlkprof::advise
