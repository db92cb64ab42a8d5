#include "report/diagnosis/reports.h"

#include "advise/rules.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using advise::Finding;

std::optional<double> stake(const Finding& finding, double whole, double scale) {
  if (!finding.bound_ns || !(whole > 0)) return std::nullopt;
  return scale * static_cast<double>(*finding.bound_ns) / whole;
}

Fields<Finding> finding_fields(const model::Profile& profile) {
  const model::Summary& summary = profile.aggregate.summary;
  const auto op = [&fold = profile.fold](auto figure) {
    return [&fold, figure](const Finding& finding) -> Cell {
      return finding.op == model::kNone ? Cell{} : figure(fold.ops[finding.op]);
    };
  };
  const auto iterations = static_cast<double>(summary.aggregated_iterations);
  const auto wall = static_cast<double>(summary.wall_ns);
  return {{"Problem", "", [](const Finding& finding) -> Cell { return finding.problem; }},
          {"Recommendation", "", [](const Finding& finding) -> Cell { return finding.recommendation; }},
          {"Detector", "", [](const Finding& finding) -> Cell { return finding.rule->detector; }},
          {"Where", "", [](const Finding& finding) { return text_cell(finding.where); }},
          {"Time At Stake (ns/iteration)", "ns/iteration",
           [iterations](const Finding& finding) { return number_cell(stake(finding, iterations, 1)); }},
          {"Time At Stake (%)", "%", [wall](const Finding& finding) { return number_cell(stake(finding, wall, 100)); }},
          {"Fires", "", [](const Finding& finding) -> Cell { return finding.rule->fires; }},
          {"Threshold From", "", [](const Finding& finding) -> Cell { return finding.rule->source; }},
          {"Rule", "", [](const Finding& finding) -> Cell { return finding.rule->name; }},
          {"Headline", "", [](const Finding& finding) -> Cell { return finding.rule->headline; }},
          {"Op ID", "", op([](const model::Op& it) { return text_cell(it.id); })},
          {"Op Name", "", op([](const model::Op& it) { return text_cell(it.name); })},
          {"Direction", "", op([](const model::Op& it) { return direction_cell(it.direction); })},
          {"Basis", "", [](const Finding& finding) { return text_cell(finding.basis); }}};
}

}  // namespace

Rows expert_systems_report(const model::Profile& profile) {
  return make_rows("expert_systems", finding_fields(profile), advise::diagnose(profile));
}

}  // namespace dlkprof::report
