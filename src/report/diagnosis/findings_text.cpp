#include "report/diagnosis/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/error.h"
#include "report/format/people.h"
#include "report/ops/fields.h"

namespace dlkprof::report {
namespace {

using advise::Finding;

constexpr std::size_t kFindingIndent = 4;

std::string gain_text(const Finding& finding, const model::Summary& summary) {
  if (!finding.bound_ns || summary.wall_ns <= 0 || summary.aggregated_iterations == 0) return "";
  const auto bound = static_cast<double>(*finding.bound_ns);
  return fmt::format("estimated gain: at most {:.1f} % ({}{})", 100 * bound / static_cast<double>(summary.wall_ns),
                     short_quantity(bound / summary.shown_iterations(), "ns"), summary.mixed_kinds ? "" : " per iteration");
}

std::string paragraph(const std::string& text, const Page& page) {
  if (text.empty()) return "";
  return std::string(kFindingIndent, ' ') + wrap_shortened(text, page.width, kFindingIndent, kFindingIndent) + "\n";
}

std::string finding_text(const Finding& finding, std::size_t number, const model::Profile& profile, const Page& page) {
  const std::string label = pad_right(fmt::format("{}.", number), kFindingIndent);
  std::string text = bold(label + wrap(finding.rule->headline, page.width, kFindingIndent, kFindingIndent), page) + "\n";
  text += paragraph(gain_text(finding, profile.aggregate.summary), page);
  const std::string place = place_text(finding, profile.fold, page.width - kFindingIndent - 3);
  if (!place.empty()) text += std::string(kFindingIndent, ' ') + "at " + place + "\n";
  text += paragraph(finding.problem, page);
  text += paragraph("Change: " + finding.recommendation, page);
  return finding.basis.empty() ? text : text + paragraph("Basis: " + finding.basis, page);
}

bool is_accepted(const Finding& finding, const model::Fold& fold, const Choice& choice) {
  if (choice.accepts(finding.where)) return true;
  if (finding.op == model::kNone) return false;
  const model::Op& op = fold.ops[finding.op];
  return choice.accepts(op.name) || choice.accepts(op.id) || choice.accepts(op.type);
}

}  // namespace

std::string place_text(const Finding& finding, const model::Fold& fold, std::size_t width) {
  if (finding.op == model::kNone) return shorten_path(finding.where, width);
  const model::Op& op = fold.ops[finding.op];
  const std::string pass = model::name_in(model::kDirections, op.direction);
  const std::string suffix = pass.empty() ? "" : " " + pass;
  if (finding.where.empty() || finding.where == op.name) return shorten_path(op.name, width - suffix.size()) + suffix;
  if (model::is_unassociated(op.name)) return shorten_middle(finding.where, width);
  const std::string kernel = shorten_middle(finding.where, width / 2) + " of ";
  const std::size_t taken = display_width(kernel) + suffix.size();
  return kernel + shorten_path(op.name, width - std::min(width, taken)) + suffix;
}

std::string findings_text(const model::Profile& profile, const Choice& choice, const Page& page) {
  if (!choice.columns.empty() || !choice.sort.empty()) {
    throw UsageError("expert_systems is a list on a terminal and has no columns", "",
                     "Leave out --columns and --sort, or add --format csv.");
  }
  advise::Findings findings = advise::diagnose(profile);
  if (choice.accepts)
    std::erase_if(findings, [&](const Finding& finding) { return !is_accepted(finding, profile.fold, choice); });
  if (findings.empty()) return "No rule found anything.\n";
  const std::size_t most = choice.top.value_or(kRowsForPeople);
  const std::size_t shown = most == 0 ? findings.size() : std::min(most, findings.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : "\n") + finding_text(findings[i], i + 1, profile, page);
  }
  text += "\n" + wrap("Gains are upper bounds and overlap, so they do not add up.", page.width, 0, 0) + "\n";
  if (shown < findings.size()) text += fmt::format("and {} more findings (--top 0 shows all)\n", findings.size() - shown);
  return text;
}

}  // namespace dlkprof::report
