#include "report/ops/reports.h"

#include "report/ops/fields.h"
#include "report/screen/screen.h"

namespace dlkprof::report {
namespace {

struct KindOfIterations {
  std::string name;
  model::KindRow row;
  double gpu_share = 0;  // of all kinds, from 0 to 1
};

// Where all are of one kind, it is what the summary is of.
model::KindRow whole_range(const model::Profile& profile) {
  const model::Summary& summary = profile.aggregate.summary;
  return {.iterations = summary.aggregated_iterations,
          .wall_ns = summary.wall_ns,
          .gpu_ns = summary.all_ops.gpu_ns,
          .median_ns = summary.median_iteration_ns,
          .mean_ns = summary.mean_iteration_ns,
          .deviation_ns = summary.iteration_deviation_ns,
          .verdict = verdict_of(profile)};
}

std::vector<KindOfIterations> kinds_of(const model::Profile& profile) {
  std::vector<KindOfIterations> kinds;
  double gpu_ns = 0;
  for (const model::KindRow& row : profile.aggregate.kinds) {
    kinds.push_back({profile.fold.kinds[row.kind].name, row});
    gpu_ns += static_cast<double>(row.gpu_ns);
  }
  if (kinds.empty()) {
    kinds.push_back({"all", whole_range(profile)});
    gpu_ns = static_cast<double>(kinds.front().row.gpu_ns);
  }
  for (KindOfIterations& one : kinds) one.gpu_share = gpu_ns > 0 ? static_cast<double>(one.row.gpu_ns) / gpu_ns : 0;
  return kinds;
}

}  // namespace

Rows iterations_report(const model::Profile& profile) {
  Fields<KindOfIterations> fields{
      {"Kind", "", [](const KindOfIterations& one) -> Cell { return one.name; }},
      {"Iterations", "", [](const KindOfIterations& one) -> Cell { return one.row.iterations; }},
      {"Median Time (ns)", "ns", [](const KindOfIterations& one) -> Cell { return one.row.median_ns; }},
      {"Avg. Time (ns)", "ns", [](const KindOfIterations& one) -> Cell { return one.row.mean_ns; }},
      {"Standard Deviation (ns)", "ns",
       [](const KindOfIterations& one) { return one.row.iterations > 1 ? Cell{one.row.deviation_ns} : Cell{}; }},
      {"Total Time (ns)", "ns", [](const KindOfIterations& one) -> Cell { return one.row.wall_ns; }},
      {"Total GPU Time (ns)", "ns", [](const KindOfIterations& one) -> Cell { return one.row.gpu_ns; }},
      {"GPU Time (%)", "%", [](const KindOfIterations& one) -> Cell { return 100 * one.gpu_share; }},
      {"Verdict", "", [](const KindOfIterations& one) { return text_cell(one.row.verdict); }}};
  return make_rows("iterations", std::move(fields), kinds_of(profile));
}

}  // namespace dlkprof::report
