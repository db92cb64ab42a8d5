#include "report/diagnosis/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "advise/config_use.h"
#include "advise/quantities.h"
#include "advise/roofline.h"
#include "advise/stalls.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::report {
namespace {

using Values = advise::Values;

bool has_limits(const Values& values) {
  return find(values, advise::Quantity::sm_throughput) && find(values, advise::Quantity::memory_throughput);
}
bool has_occupancy(const Values& values) { return find(values, advise::Quantity::achieved_occupancy).has_value(); }
bool has_stalls(const Values& values) { return !advise::stalls_of(values).empty(); }
bool has_traffic(const Values& values) { return find(values, advise::Quantity::dram_bytes).has_value(); }
bool has_operations(const Values& values) {
  const auto roofline = advise::roofline_of(values);
  return roofline && roofline->counted;
}

// A section that a report lives on, and whether a row has it.
struct Need {
  std::string_view report;
  const char* section;
  bool (*is_there)(const Values& values);
};
constexpr std::array kNeeds{Need{"bottleneck", "speed_of_light", has_limits},
                            Need{"occupancy", "occupancy", has_occupancy},
                            Need{"stall", "stall", has_stalls},
                            Need{"memory", "memory", has_traffic},
                            Need{"roofline", "roofline", has_operations},
                            Need{"expert_systems", "speed_of_light", has_limits},
                            Need{"expert_systems", "memory", has_traffic}};

}  // namespace

double percent_in_graphs(const model::Profile& profile) {
  double all = 0, in_graphs = 0;
  for (std::size_t i = 0; i < profile.timeline.activities.size(); ++i) {
    const model::Activity& activity = profile.timeline.activities[i];
    if (activity.config == model::kNone || !advise::is_aggregated(profile, i)) continue;
    const auto ns = static_cast<double>(model::gpu_ns(activity));
    all += ns;
    if (activity.in_graph) in_graphs += ns;
  }
  return all > 0 ? 100 * in_graphs / all : 0;
}

std::string missing_sections(const std::string& report, const model::Profile& profile) {
  const model::PcSamples& samples = profile.timeline.pc_samples;
  const bool sampled = !samples.empty();
  if (report == "source" && !sampled && samples.counts.empty()) {
    return "the report source is empty where instructions were neither sampled nor counted: sample with --pc-sampling, "
           "or count with --section source";
  }
  if (report == "stall" && sampled) return "";
  const std::vector<model::OpRow>& ops = profile.aggregate.ops;
  std::string options;
  for (const Need& need : kNeeds) {
    const auto has = [&need](const model::OpRow& row) { return need.is_there(row.counters.values); };
    if (need.report != report || std::any_of(ops.begin(), ops.end(), has)) continue;
    options += fmt::format("{}--section {}", options.empty() ? "" : " ", need.section);
  }
  if (options.empty()) return "";
  const std::string what = fmt::format("the report {} has empty cells for what was not measured", report);
  const double in_graphs = percent_in_graphs(profile);
  if (in_graphs >= kMostlyInGraphs) {
    return fmt::format(
        "{}: {:.3g} % of the GPU time of kernels is in CUDA graphs; {} measures those that can be taken apart "
        "(--replay-mode auto), --replay-mode sample samples all",
        what, in_graphs, options);
  }
  return fmt::format("{}: collect it with {}", what, options);
}

}  // namespace dlkprof::report
