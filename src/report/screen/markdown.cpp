// The screen as Markdown, for reviews, tickets and agents: the verdict, the facts, ops with their spread, findings with the
// evidence and how to verify it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/run_figures.h"
#include "base/text.h"
#include "model/names.h"
#include "model/samples/student_t.h"
#include "report/diagnosis/evidence.h"
#include "report/diagnosis/reports.h"
#include "report/format/markdown.h"
#include "report/launches/launch_text.h"
#include "report/screen/screen.h"
#include "report/screen/screen_parts.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kMarkdownOps = 10, kMarkdownFindings = 3, kMarkdownFigures = 3, kMarkdownMissing = 5;
constexpr Page kWide{1000, false};  // no line is broken

// On one line, between backticks.
std::string code(const std::string& text) {
  std::string made = printable(text);
  std::replace(made.begin(), made.end(), '`', '\'');
  return "`" + made + "`";
}

// "Iteration   median 3.93 ms" as "- **Iteration**: median 3.93 ms".
std::string fact_item(const std::string& line) {
  const std::size_t end = line.find(' ');
  const std::size_t words = line.find_first_not_of(' ', line.find("  "));
  if (end == std::string::npos || words == std::string::npos) return "- " + in_markdown(line);
  const std::string label = line.substr(0, line.find("  "));
  return fmt::format("- **{}**: {}", label, in_markdown(line.substr(words)));
}

// Half of the 95 % confidence interval of the mean over iterations.
std::string half_interval(const std::vector<double>& values) {
  if (values.size() < 2) return "";
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return short_quantity(model::student_t(values.size() - 1) * std::sqrt(squares / (n - 1) / n), "ns");
}

ScreenLines op_lines(const model::Profile& profile) {
  const advise::RunFigures figures = advise::figures_of(profile);
  if (figures.ops.empty()) return {};
  double all = 0;
  for (const advise::OpFigures& op : figures.ops) all += op.mean_gpu_ns;
  ScreenLines lines{"## Where the GPU time goes", "", "| op | per iteration | ± (95 %) | n | share |",
                    "| --- | ---: | ---: | ---: | ---: |"};
  for (std::size_t i = 0; i < std::min(kMarkdownOps, figures.ops.size()); ++i) {
    const advise::OpFigures& op = figures.ops[i];
    const std::string direction = model::name_in(model::kDirections, op.direction);
    lines.push_back(fmt::format("| {}{} | {} | {} | {} | {:.1f} % |", in_markdown(shorten_path(op.name, 100)),
                                direction.empty() ? "" : " " + direction, short_quantity(op.mean_gpu_ns, "ns"),
                                half_interval(op.gpu_ns), op.occurs, all > 0 ? 100 * op.mean_gpu_ns / all : 0));
  }
  lines.emplace_back();
  lines.push_back(fmt::format("{} of {} ops; n: iterations in which they launched anything.",
                              std::min(kMarkdownOps, figures.ops.size()), figures.ops.size()));
  return lines;
}

ScreenLines finding_items(const model::Profile& profile, const std::string& file) {
  const EvidenceFinder finder(profile);
  const advise::Findings findings = advise::diagnose(profile);
  ScreenLines lines{"## Findings", ""};
  if (findings.empty()) lines.emplace_back("No rule fires on what was measured.");
  for (std::size_t i = 0; i < std::min(kMarkdownFindings, findings.size()); ++i) {
    const advise::Finding& finding = findings[i];
    const auto gain = finder.gain(finding, i);
    lines.push_back(fmt::format("{}. **{}**{}", i + 1, finding.rule->headline,
                                gain ? fmt::format(" (saves at most {} an iteration)", short_quantity(*gain->value, "ns")) : ""));
    lines.push_back("   " + in_markdown(finding.problem));
    lines.push_back("   Change: " + in_markdown(finding.recommendation));
    const std::vector<EvidenceFigure> evidence = finder.evidence(finding);
    for (std::size_t e = 0; e < std::min(kMarkdownFigures, evidence.size()); ++e) {
      const EvidenceFigure& figure = evidence[e];
      if (!figure.value) continue;
      lines.push_back(
          fmt::format("   - {} = {:.6g} {}: {}", in_markdown(figure.what), *figure.value, figure.unit, code(figure.query)));
    }
  }
  if (findings.size() > kMarkdownFindings) {
    lines.emplace_back();
    lines.push_back(fmt::format("{} more: {}", findings.size() - kMarkdownFindings, in_markdown(file)));
  }
  return lines;
}

ScreenLines missing_items(const model::Profile& profile) {
  const std::vector<Abstention> missing = EvidenceFinder(profile).abstentions();
  if (missing.empty()) return {};
  ScreenLines lines{"## Not measured", ""};
  for (std::size_t i = 0; i < std::min(kMarkdownMissing, missing.size()); ++i) {
    lines.push_back(fmt::format("- {}: {}; collect with `{}`", missing[i].rule == nullptr ? "everything" : missing[i].rule->name,
                                missing[i].reason, missing[i].collect_with));
  }
  return lines;
}

}  // namespace

std::string screen_markdown(const model::Profile& profile, const std::string& file) {
  const advise::Overview overview = advise::overview_of(profile);
  const ScreenInputs inputs{profile, overview, file, kWide};
  ScreenLines facts;
  for (const std::string& line : fact_lines(inputs)) facts.push_back(fact_item(line));
  std::string text = "# " + in_markdown(verdict_sentence(inputs)) + "\n";
  for (const ScreenLines& part : {facts, op_lines(profile), finding_items(profile, file), missing_items(profile)}) {
    if (part.empty()) continue;
    text += fmt::format("\n{}\n", fmt::join(part, "\n"));
  }
  return text + "\nVerify a change: profile again, then " + code("dlkprof compare " + file + " after_dldb.sqlite") + "\n";
}

}  // namespace dlkprof::report
