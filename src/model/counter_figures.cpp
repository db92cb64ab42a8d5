#include "model/counter_figures.h"

#include <cmath>
#include <vector>

namespace dlkprof::model {
namespace {

using Names = std::vector<const char*>;

// The metrics behind a figure, best first, as metrics/sections names them: chips and sets differ. Each alternative is a sum.
const std::vector<Names>& metrics_of(CounterFigure figure) {
  static const std::vector<std::vector<Names>> kMetrics{
      {{"sm__warps_active.avg.pct_of_peak_sustained_active"},
       {"TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_active"},
       {"TPC.TriageCompute.tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_active"}},
      {{"theoretical_occupancy_pct"}, {"sm__maximum_warps_per_active_cycle_pct"}},
      {{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active"},
       {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
       {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_active"}},
      {{"sm__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}},
      {{"dram__bytes.sum"},
       {"dram__bytes_read.sum", "dram__bytes_write.sum"},
       {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}},
      {{"dram__bytes.sum.per_second"},
       {"dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second"},
       {"dram__bytes_op_read.sum.per_second", "dram__bytes_op_write.sum.per_second"}},
      {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}, {"dram__throughput.avg.pct_of_peak_sustained_elapsed"}}};
  return kMetrics.at(static_cast<std::size_t>(figure));
}

// None where one of them was not measured.
std::optional<double> sum_of(const Counters& counters, const Names& names) {
  double all = 0;
  for (const char* name : names) {
    const auto found = counters.values.find(name);
    if (found == counters.values.end() || !std::isfinite(found->second)) return std::nullopt;
    all += found->second;
  }
  return all;
}

}  // namespace

std::optional<double> counter_figure(const Counters& counters, CounterFigure figure) {
  for (const Names& names : metrics_of(figure)) {
    if (const auto value = sum_of(counters, names)) return value;
  }
  return std::nullopt;
}

}  // namespace dlkprof::model
