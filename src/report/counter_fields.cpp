#include "report/counter_fields.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "model/counter_figures.h"

namespace dlkprof::report {
namespace {

using model::CounterFigure;
using model::Counters;

struct Source {
  const char* column;
  const char* unit;
  CounterFigure figure;
};
constexpr std::array kSources{Source{"Achieved Occupancy (%)", "%", CounterFigure::achieved_occupancy},
                              Source{"Theoretical Occupancy (%)", "%", CounterFigure::theoretical_occupancy},
                              Source{"Tensor Pipe (%)", "%", CounterFigure::tensor_pipe},
                              Source{"SM Throughput (%)", "%", CounterFigure::sm_throughput},
                              Source{"Memory Throughput (%)", "%", CounterFigure::memory_throughput},
                              Source{"DRAM Bytes", "byte", CounterFigure::dram_bytes},
                              Source{"DRAM Rate (byte/s)", "byte/s", CounterFigure::dram_rate}};

Cell value_of(const Counters& counters, CounterFigure figure) {
  const auto value = model::counter_figure(counters, figure);
  return value ? Cell{*value} : Cell{};
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
    for (const auto& [column, unit, figure] : kSources) {
      fields.push_back({column, unit, [figure = figure](const Counters& counters) { return value_of(counters, figure); }});
    }
    fields.push_back({"Top Stall", "", top_stall_reason});
    fields.push_back({"Top Stall (%)", "%", top_stall_share});
    fields.push_back({"Samples Measured", "launch", [](const Counters& counters) -> Cell { return counters.samples; }});
    return fields;
  }();
  return kFields;
}

Cell achieved_occupancy(const Counters& counters) { return value_of(counters, CounterFigure::achieved_occupancy); }

}  // namespace dlkprof::report
