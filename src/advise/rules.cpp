#include "advise/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "advise/rule_parts.h"
#include "base/collective_kernel.h"
#include "base/text.h"
#include "model/aggregate/provenance.h"

namespace dlkprof::advise {
namespace {

constexpr std::size_t kMostNameColumns = 100;
constexpr double kLeastShown = 0.05;  // %: rounded to one decimal it is 0.1

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
  text += fmt::format("\n\n{}.\n\n- **Fires**: {}\n- **Threshold from**: {}\n- **Estimated gain**: {}\n- **What to do**: {}\n",
                      rule.headline, rule.fires, rule.source, rule.stake, rule.advice);
  if (rule.jax_advice != nullptr) text += fmt::format("- **In JAX**: {}\n", rule.jax_advice);
  return text;
}

// When it fires, for a page: what to do and what it gains is printed with each finding.
std::string list_item(const Rule& rule) {
  std::string needs = std::string(rule.frameworks) == "All" ? "" : fmt::format("; {}", rule.frameworks);
  if (*rule.sections != '\0') needs += fmt::format("; sections {}", rule.sections);
  return fmt::format("\n- **`{}`** ({}{}): {}. {}\n", rule.name, rule.detector, needs, rule.headline, rule.fires);
}

// jax.jit calls the XLA module of a function f jit_f; TensorFlow's are clusters.
bool has_modules_of_jax(const model::Fold& fold) {
  return std::any_of(fold.ops.begin(), fold.ops.end(), [](const model::Op& op) {
    return op.framework == model::Framework::xla && op.name.find("/jit_") != std::string::npos;
  });
}

constexpr const char* kIntroductionToRules = R"(
`dlkprof report <file> --reports expert_systems` applies all rules and lists what they found: a problem, what to do about it, and the
estimated gain (*Time At Stake*).

The estimated gain is an upper bound: fixing the problem saves at most that much of the iterations aggregated, if nothing else
changes. Unless --iter_start or --iter_stop is given, these are the steady range. Findings overlap, so gains do not add up. Where no
figure bounds the gain the cell is empty. *Basis* says whether the figures are from counters, and of how many launches.

Findings of kernels and ops are about those with at least {:g} % of the GPU time, at most {} per rule.
)";

constexpr const char* kRulesPage = R"(# Rules of the expert system

Generated from the code of the rules (`DLKPROF_REGENERATE=1 advise_test`); a test compares the two. `dlkprof help rules` also prints where
each threshold comes from, how the gain is estimated, and what the rule recommends.
)";

}  // namespace

Case::Case(const model::Profile& made_of)
    : profile(made_of),
      configs(config_uses(made_of)),
      evidence(gather_evidence(made_of)),
      gpu_ns(made_of.aggregate.summary.all_ops.gpu_ns),
      of_jax(has_modules_of_jax(made_of.fold)) {
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

namespace {

// The end of a long path says more than its beginning.
std::string path_text(const std::string& name) {
  const std::string text = printable(name, 4 * kMostNameColumns);
  if (text.size() <= kMostNameColumns) return text;
  const std::size_t slash = text.find('/', text.size() - kMostNameColumns);
  return slash == std::string::npos ? shown(name) : "..." + text.substr(slash);
}

const char* direction_text(model::Direction direction) {
  if (direction == model::Direction::none) return "";
  return direction == model::Direction::fprop ? " fprop" : " bprop";
}

std::string basis_of(std::uint64_t samples, std::uint8_t replay_modes) {
  if (samples == 0) return "timed; by names and launch configurations, without counters";
  const std::string how = model::replay_modes_text(replay_modes);
  return fmt::format("counters of {} launch{}, {}", samples, samples == 1 ? "" : "es", how.empty() ? "sampled" : how);
}

}  // namespace

std::string op_text(const Case& run, std::uint32_t op) {
  const model::Op& it = run.profile.fold.ops[op];
  const bool has_path = !it.name.empty() && it.name != it.type && !model::is_unassociated(it.name);
  const std::string where = has_path ? " of " + path_text(it.name) : "";
  return fmt::format("{}{}{} ({})", shown(it.type), direction_text(it.direction), where, shown(it.id));
}

std::string kernel_text(const Case& run, const ConfigUse& use) {
  const std::string name = shown(kernel_name(run, use));
  if (use.op == model::kNone) return name;
  const std::string others = use.ops < 2 ? "" : fmt::format(" and {} more op{}", use.ops - 1, use.ops == 2 ? "" : "s");
  if (!model::is_unassociated(run.profile.fold.ops[use.op].name)) return name + " of " + op_text(run, use.op) + others;
  return others.empty() ? name : name + " of no op" + others;
}

const std::string& kernel_name(const Case& run, const ConfigUse& use) { return run.profile.timeline.kernels[use.kernel].name; }

Finding of_run(const Case& run, std::string problem, std::optional<std::int64_t> bound_ns) {
  const std::uint64_t iterations = run.profile.aggregate.summary.aggregated_iterations;
  return {.problem = std::move(problem),
          .bound_ns = bound_ns,
          .basis = fmt::format("timed over {} iteration{}", iterations, iterations == 1 ? "" : "s")};
}

Finding of_op(const Case& run, const model::OpRow& row, std::string problem, std::optional<std::int64_t> bound_ns,
              std::string recommendation) {
  return {.problem = std::move(problem),
          .recommendation = std::move(recommendation),
          .where = run.profile.fold.ops[row.op].name,
          .bound_ns = bound_ns,
          .op = row.op,
          .basis = basis_of(row.counters.samples, row.counters.replay_modes)};
}

Finding of_config(const Case& run, const ConfigUse& use, std::string problem, std::int64_t bound_ns, std::string recommendation) {
  return {.problem = std::move(problem),
          .recommendation = std::move(recommendation),
          .where = kernel_name(run, use),
          .bound_ns = bound_ns,
          .op = use.op,
          .basis = basis_of(use.samples, use.replay_modes),
          .config = use.config};
}

std::string share_text(const Case& run, const ConfigUse& use) {
  return fmt::format("{}, {:.3g} % of the GPU time,", kernel_text(run, use), run.percent_of_gpu_time(use.gpu_ns));
}

bool is_collective(const Case& run, const ConfigUse& use) {
  return is_collective_kernel(run.profile.timeline.kernels[use.kernel].mangled);
}

bool is_library_kernel(const model::Kernel& kernel) {
  constexpr std::array kParts{"cudnn",       "cublas",       "_xmma_",  "nvjet",   "cutlass_80_", "cutlass_75_",
                              "cutlass_70_", "gemmSN",       "gemv2",   "gemvN",   "sgemm_",      "dgemm_",
                              "magma_",      "splitKreduce", "ampere_", "turing_", "volta_",      "maxwell_"};
  const std::string& name = kernel.long_name.empty() ? kernel.name : kernel.long_name;
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::int64_t above_memory_peak_ns(const model::OpRow& row, double scale) {
  const auto memory = find(row.counters.values, Quantity::memory_throughput);
  const std::int64_t at_peak = memory ? part_ns(std::min(row.counters.covered_ns, row.gpu.total), scale * *memory / 100) : 0;
  return row.gpu.total - at_peak;
}

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
    append_rules(all, triage_rules());
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
      const bool jax = run.of_jax && rule.jax_advice != nullptr;
      if (finding.recommendation.empty()) finding.recommendation = jax ? rule.jax_advice : rule.advice;
      // Nothing saves more than the iterations took.
      if (finding.bound_ns) finding.bound_ns = std::clamp<std::int64_t>(*finding.bound_ns, 0, profile.aggregate.summary.wall_ns);
      all.push_back(std::move(finding));
    }
  }
  std::stable_sort(all.begin(), all.end(), is_before);
  return all;
}

bool is_negligible(const Finding& finding, const model::Summary& summary) {
  return finding.bound_ns && static_cast<double>(*finding.bound_ns) < kLeastShown / 100 * static_cast<double>(summary.wall_ns);
}

std::string describe_rules() {
  std::string text = "# Rules of the expert system\n" + fmt::format(kIntroductionToRules, kLeastShare, kMostPlaces);
  for (const Rule& rule : rules()) text += describe(rule);
  return text;
}

std::string list_rules() {
  std::string text = kRulesPage + fmt::format(kIntroductionToRules, kLeastShare, kMostPlaces);
  for (const Rule& rule : rules()) text += list_item(rule);
  return text;
}

}  // namespace dlkprof::advise
