#include "advise/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "advise/rule_parts.h"
#include "base/text.h"

namespace dlkprof::advise {
namespace {

constexpr std::size_t kMostNameColumns = 100;

void append_rules(std::vector<Rule>& all, std::vector<Rule> more) {
  for (Rule& rule : more) all.push_back(std::move(rule));
}

std::size_t position_of(const Rule* rule) { return static_cast<std::size_t>(rule - rules().data()); }

// By time at stake; what has none comes last, in the order of the rules.
bool is_before(const Finding& a, const Finding& b) {
  if (a.bound_ns.has_value() != b.bound_ns.has_value()) return a.bound_ns.has_value();
  if (a.bound_ns && *a.bound_ns != *b.bound_ns) return *a.bound_ns > *b.bound_ns;
  return position_of(a.rule) < position_of(b.rule);
}

std::string describe(const Rule& rule) {
  std::string text = fmt::format("\n## {}\n\n`{}`, frameworks: {}", rule.detector, rule.name, rule.frameworks);
  if (*rule.sections != '\0') text += fmt::format(", needs the sections: {}", rule.sections);
  text += fmt::format("\n\n{}.\n\n- **Fires**: {}\n- **Threshold from**: {}\n- **Time at stake**: {}\n- **What to do**: {}\n",
                      rule.headline, rule.fires, rule.source, rule.stake, rule.advice);
  return text;
}

constexpr const char* kIntroductionToRules = R"(# Rules of the expert system

Generated from the code of the rules: a test compares the two.

`dlkprof report <file> --reports expert_systems` applies all of them and lists what they found: a problem, what to do about
it, and the time at stake. Each rule is a row of data and a small function in `src/advise/rules_*.cpp`.

**Time at stake** is a bound: mending what was found saves at most that much of the iterations aggregated, if nothing else
changes. It is given in ns an iteration (divided by the number of iterations aggregated) and as a share of their wall clock.
Findings overlap, so bounds do not add up, and GPU time that runs beside other work saves less when it goes. Where no figure
bounds it the cell is empty.

Findings of kernels and ops are of those with at least {:g} % of the GPU time, at most {} a rule.
)";

}  // namespace

Case::Case(const model::Profile& made_of)
    : profile(made_of),
      configs(config_uses(made_of)),
      evidence(gather_evidence(made_of)),
      gpu_ns(made_of.aggregate.summary.all_ops.gpu_ns) {
  for (const capture::Fact& one : profile.timeline.facts) {
    if (one.source == "pytorch") facts[one.name] = one.value;
  }
}

std::optional<std::string> Case::fact(const std::string& name) const {
  const auto found = facts.find(name);
  return found == facts.end() ? std::nullopt : std::optional(found->second);
}

bool Case::is_true(const char* name) const { return fact(name) == "true"; }

double Case::percent_of_gpu_time(std::int64_t ns) const {
  return gpu_ns > 0 ? 100 * static_cast<double>(ns) / static_cast<double>(gpu_ns) : 0;
}

std::string shown(std::string_view name) { return printable(name, kMostNameColumns); }

std::string op_name(const Case& run, const model::OpRow& row) { return shown(run.profile.fold.ops[row.op].name); }

std::string kernel_name(const Case& run, const ConfigUse& use) { return shown(run.profile.timeline.kernels[use.kernel].name); }

bool contains(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::span<const Rule> rules() {
  static const std::vector<Rule> kRules = [] {
    std::vector<Rule> all;
    append_rules(all, iteration_rules());
    append_rules(all, tensor_rules());
    append_rules(all, framework_rules());
    append_rules(all, gpu_rules());
    append_rules(all, kernel_rules());
    append_rules(all, overlap_rules());
    return all;
  }();
  return kRules;
}

Findings diagnose(const model::Profile& profile) {
  const Case run(profile);
  Findings all;
  for (const Rule& rule : rules()) {
    Findings found;
    rule.find(run, found);
    for (Finding& finding : found) {
      finding.rule = &rule;
      if (finding.recommendation.empty()) finding.recommendation = rule.advice;
      all.push_back(std::move(finding));
    }
  }
  std::stable_sort(all.begin(), all.end(), is_before);
  return all;
}

std::string describe_rules() {
  std::string text = fmt::format(kIntroductionToRules, kLeastShare, kMostPlaces);
  for (const Rule& rule : rules()) text += describe(rule);
  return text;
}

}  // namespace dlkprof::advise
