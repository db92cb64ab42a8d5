#include "report/diagnosis/findings_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/error.h"
#include "report/format/people.h"

namespace dlkprof::report {
namespace {

using advise::Finding;

constexpr std::size_t kFindingIndent = 4;

std::string gain_text(const Finding& finding, const model::Summary& summary) {
  if (!finding.bound_ns || summary.wall_ns <= 0 || summary.aggregated_iterations == 0) return "";
  const auto bound = static_cast<double>(*finding.bound_ns);
  return fmt::format("estimated gain: at most {:.1f} % ({} per iteration)", 100 * bound / static_cast<double>(summary.wall_ns),
                     short_quantity(bound / static_cast<double>(summary.aggregated_iterations), "ns"));
}

std::string paragraph(const std::string& text, const Page& page) {
  if (text.empty()) return "";
  return std::string(kFindingIndent, ' ') + wrap(text, page.width, kFindingIndent, kFindingIndent) + "\n";
}

std::string finding_text(const Finding& finding, std::size_t number, const model::Summary& summary, const Page& page) {
  const std::string label = pad_right(fmt::format("{}.", number), kFindingIndent);
  std::string text = bold(label + wrap(finding.rule->headline, page.width, kFindingIndent, kFindingIndent), page) + "\n";
  text += paragraph(gain_text(finding, summary), page);
  if (!finding.where.empty()) text += paragraph("at " + shorten_middle(finding.where, page.width - kFindingIndent - 3), page);
  text += paragraph(finding.problem, page);
  return text + paragraph("Change: " + finding.recommendation, page);
}

}  // namespace

std::string findings_text(const model::Profile& profile, const Choice& choice, const Page& page) {
  if (!choice.columns.empty() || !choice.sort.empty()) {
    throw UsageError("expert_systems is a list on a terminal and has no columns", "",
                     "Leave out --columns and --sort, or add --format csv.");
  }
  advise::Findings findings = advise::diagnose(profile);
  if (choice.accepts) std::erase_if(findings, [&](const Finding& finding) { return !choice.accepts(finding.where); });
  if (findings.empty()) return "No rule found anything.\n";
  const std::size_t most = choice.top.value_or(kRowsForPeople);
  const std::size_t shown = most == 0 ? findings.size() : std::min(most, findings.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : "\n") + finding_text(findings[i], i + 1, profile.aggregate.summary, page);
  }
  text += "\n" + wrap("Gains are upper bounds and overlap, so they do not add up.", page.width, 0, 0) + "\n";
  if (shown < findings.size()) text += fmt::format("and {} more findings (--top 0 shows all)\n", findings.size() - shown);
  return text;
}

}  // namespace dlkprof::report
