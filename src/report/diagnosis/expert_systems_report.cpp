#include "report/diagnosis/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "advise/rules.h"
#include "base/text.h"
#include "report/diagnosis/diagnosis_rows.h"
#include "report/format/layout.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using advise::Finding;
using advise::Findings;

constexpr std::size_t kFindingWidth = 80;
constexpr std::size_t kStakeWidth = 8;

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

std::string line_of(const Finding& finding, const model::Summary& summary) {
  const auto percent = stake(finding, static_cast<double>(summary.wall_ns), 100);
  const std::string text = finding.rule->headline + (finding.where.empty() ? "" : ": " + finding.where);
  const std::string share = percent ? fmt::format("{:.1f} %", *percent) : "";
  return pad_left(share, kStakeWidth) + "  " + printable(text, kFindingWidth - kStakeWidth - 2) + "\n";
}

}  // namespace

Rows expert_systems_report(const model::Profile& profile) {
  const auto findings = std::make_shared<const Findings>(advise::diagnose(profile));
  return make_rows("expert_systems", finding_fields(profile), findings->size(),
                   [findings](std::size_t i) -> const Finding& { return (*findings)[i]; });
}

std::string top_findings(const model::Profile& profile, std::size_t most) {
  Findings findings = advise::diagnose(profile);
  std::erase_if(findings, [&profile](const Finding& one) { return is_negligible(one, profile.aggregate.summary); });
  if (findings.empty()) return "";
  std::string text = "At stake, at most, of the iterations (--reports expert_systems: what to do)\n";
  for (std::size_t i = 0; i < std::min(most, findings.size()); ++i) text += line_of(findings[i], profile.aggregate.summary);
  return text;
}

}  // namespace dlkprof::report
