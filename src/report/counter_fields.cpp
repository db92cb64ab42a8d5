#include "report/counter_fields.h"

#include <cmath>
#include <optional>
#include <string_view>

namespace dlkprof::report {
namespace {

using model::Counters;
using Names = std::vector<const char*>;

// The metrics behind a column, best first, as metrics/sections names them: chips and sets differ. Each alternative is a sum.
struct Source {
  const char* column;
  const char* unit;
  std::vector<Names> alternatives;
};

const Source& occupancy() {
  static const Source kSource{"Achieved Occupancy (%)",
                              "%",
                              {{"sm__warps_active.avg.pct_of_peak_sustained_active"},
                               {"TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_active"},
                               {"TPC.TriageCompute.tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_active"}}};
  return kSource;
}

const std::vector<Source>& sources() {
  static const std::vector<Source> kSources{
      occupancy(),
      {"Theoretical Occupancy (%)", "%", {{"theoretical_occupancy_pct"}, {"sm__maximum_warps_per_active_cycle_pct"}}},
      {"Tensor Pipe (%)",
       "%",
       {{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active"},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
        {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_active"}}},
      {"SM Throughput (%)", "%", {{"sm__throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {"Memory Throughput (%)", "%", {{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}}},
      {"DRAM Bytes",
       "byte",
       {{"dram__bytes.sum"},
        {"dram__bytes_read.sum", "dram__bytes_write.sum"},
        {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}}},
      {"DRAM Rate (byte/s)",
       "byte/s",
       {{"dram__bytes.sum.per_second"},
        {"dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second"},
        {"dram__bytes_op_read.sum.per_second", "dram__bytes_op_write.sum.per_second"}}},
  };
  return kSources;
}

// None where one of them was not measured.
std::optional<double> sum(const Counters& counters, const Names& names) {
  double all = 0;
  for (const char* name : names) {
    const auto found = counters.values.find(name);
    if (found == counters.values.end() || !std::isfinite(found->second)) return std::nullopt;
    all += found->second;
  }
  return all;
}

Cell value_of(const Counters& counters, const Source& source) {
  for (const Names& names : source.alternatives) {
    if (const auto value = sum(counters, names)) return *value;
  }
  return {};
}

struct Stall {
  std::string reason;  // long_scoreboard
  double share = 0;    // of all warp cycles, 0..1
};

// What warps waited for most. "selected" is the issue itself, no wait, but a part of the whole.
std::optional<Stall> top_stall(const Counters& counters) {
  constexpr std::string_view kPrefix = "smsp__average_warps_issue_stalled_";
  constexpr std::string_view kSuffix = "_per_issue_active.ratio";
  std::string_view top;
  double most = 0;
  double all = 0;
  for (auto it = counters.values.lower_bound(std::string(kPrefix)); it != counters.values.end(); ++it) {
    const std::string_view name = it->first;
    if (!name.starts_with(kPrefix)) break;
    if (!name.ends_with(kSuffix) || name.size() <= kPrefix.size() + kSuffix.size() || !(it->second > 0)) continue;
    const std::string_view reason = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    all += it->second;
    if (reason == "selected" || it->second <= most) continue;
    top = reason;
    most = it->second;
  }
  if (top.empty() || !std::isfinite(all)) return std::nullopt;
  return Stall{std::string(top), most / all};
}

Cell top_stall_reason(const Counters& counters) {
  const auto stall = top_stall(counters);
  return stall ? Cell{stall->reason} : Cell{};
}

Cell top_stall_share(const Counters& counters) {
  const auto stall = top_stall(counters);
  return stall ? Cell{100 * stall->share} : Cell{};
}

}  // namespace

const Fields<Counters>& counter_fields() {
  static const Fields<Counters> kFields = [] {
    Fields<Counters> fields;
    for (const Source& source : sources()) {
      fields.push_back({source.column, source.unit, [&source](const Counters& counters) { return value_of(counters, source); }});
    }
    fields.push_back({"Top Stall", "", top_stall_reason});
    fields.push_back({"Top Stall (%)", "%", top_stall_share});
    fields.push_back({"Samples Measured", "launch", [](const Counters& counters) -> Cell { return counters.samples; }});
    return fields;
  }();
  return kFields;
}

Cell achieved_occupancy(const Counters& counters) { return value_of(counters, occupancy()); }

}  // namespace dlkprof::report
