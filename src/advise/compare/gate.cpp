#include "advise/compare/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "advise/compare/compare_stats.h"
#include "advise/compare/gate_times.h"
#include "advise/rule_parts.h"
#include "model/names.h"

namespace dlkprof::advise {
namespace {

using GateVerdict = GateResult::Verdict;

// What one comparison of a rule says.
struct Outcome {
  GateVerdict verdict = GateVerdict::kept;
  double percent = 0;  // that it grew by
  std::string why;
};

double growth(double base, double other) { return base > 0 ? 100 * (other / base - 1) : other > 0 ? INFINITY : 0; }

std::string changed_text(double percent) {
  if (std::isinf(percent)) return "was 0 before";
  const double size = std::abs(percent);
  return fmt::format("{} by {} %", percent < 0 ? "fell" : "grew",
                     size < 1000 ? fmt::format("{:.3g}", size) : fmt::format("{:.0f}", size));
}

// Both in the unit of the larger.
std::string times_text(double base_ns, double other_ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr std::array kUnits{Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}, Unit{1, "ns"}};
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end() - 1,
                                  [larger = std::max(base_ns, other_ns)](const Unit& one) { return larger >= one.ns; });
  return fmt::format("{:.4g} {} to {:.4g} {}", base_ns / unit->ns, unit->name, other_ns / unit->ns, unit->name);
}

// A time of both runs, tested.
Outcome judge_time(const TimePair& pair, double most) {
  const double base = pair.base_spread.median, other = pair.other_spread.median;
  Outcome made{.percent = growth(base, other)};
  if (!pair.p_beyond) {
    made.verdict = GateVerdict::unknown;
    made.why = fmt::format("{}: too few {} to test, {} and {}; each run needs {}", pair.what, pair.values, pair.base.size(),
                           pair.other.size(), kLeastValues);
    return made;
  }
  const std::string figures = times_text(base, other);
  const std::string because = pair.because.empty() ? "" : "; " + pair.because;
  if (*pair.p_beyond < kSignificance && other > allowed_ns(pair, base, most)) {
    made.verdict = GateVerdict::broken;
    made.why = fmt::format("{} {} ({}, p = {:.2g}); the rule allows {:g} %{}", pair.what, changed_text(made.percent), figures,
                           *pair.p_beyond, most, because);
  } else if (*pair.p_differ >= kSignificance) {
    made.why = fmt::format("{} did not change ({})", pair.what, figures);
  } else {
    made.why = fmt::format("{} {} ({}){}", pair.what, changed_text(made.percent), figures, made.percent > most ? because : "");
  }
  return made;
}

// A counter over launch configurations.
struct Sum {
  double launches = 0, measured_launches = 0;  // an iteration
  double value = 0;                            // an iteration, of those measured
};
struct ConfigSum {
  double launches = 0;
  std::optional<double> mean;  // of a launch
};
using ConfigSums = std::map<std::string, ConfigSum>;

void add_configs(const OpFigures& op, const std::string& metric, ConfigSums& sums) {
  for (const ConfigFigures& config : op.configs) {
    ConfigSum& sum = sums[config.name];
    sum.launches += config.launches;
    if (const auto mean = config.means.find(metric); mean != config.means.end()) sum.mean = mean->second;
  }
}

// With `alike` only configurations that both runs measured.
Sum sum_of(const ConfigSums& configs, const ConfigSums& others, bool alike) {
  Sum sum;
  for (const auto& [name, config] : configs) {
    sum.launches += config.launches;
    if (!config.mean) continue;
    const auto other = others.find(name);
    if (alike && (other == others.end() || !other->second.mean)) continue;
    sum.measured_launches += config.launches;
    sum.value += config.launches * *config.mean;
  }
  return sum;
}

bool is_whole(const Sum& sum) { return sum.launches > 0 && sum.measured_launches == sum.launches; }

// Where both runs measured everything their totals are compared; else what both measured, a launch: how often it is launched is
// not for counters to tell.
Outcome judge_counter(const ConfigSums& base, const ConfigSums& other, const GateRule& rule, const std::string& what) {
  Sum base_sum = sum_of(base, other, false), other_sum = sum_of(other, base, false);
  const bool whole = is_whole(base_sum) && is_whole(other_sum);
  if (!whole) {
    base_sum = sum_of(base, other, true);
    other_sum = {};
    for (const auto& [name, config] : base) {
      const auto found = other.find(name);
      if (config.mean && found != other.end() && found->second.mean) other_sum.value += config.launches * *found->second.mean;
    }
  }
  if (base_sum.measured_launches == 0) {
    return {
        GateVerdict::unknown, 0,
        fmt::format("{} of {} was not measured in both runs: collect it with --metrics {}", rule.counter, what, rule.counter)};
  }
  const auto is_count = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!is_count(base_sum.value) || !is_count(other_sum.value)) {
    return {GateVerdict::unknown, 0,
            fmt::format("{} of {} is no count: {:.6g} to {:.6g}", rule.counter, what, base_sum.value, other_sum.value)};
  }
  Outcome made{.percent = growth(base_sum.value, other_sum.value)};
  const double share = base_sum.measured_launches / base_sum.launches;
  const std::string part = whole || share > 0.9995 ? "" : fmt::format(", of {:.3g} % of its launches", 100 * share);
  const std::string figures = fmt::format("{:.6g} to {:.6g} per iteration{}", base_sum.value, other_sum.value, part);
  // A sum of doubles is not to break a rule by its rounding.
  const bool matters = other_sum.value - base_sum.value >= rule.least_growth;
  if (made.percent > rule.most_percent + 1e-9 && matters) {
    made.verdict = GateVerdict::broken;
    made.why = fmt::format("{} of {} {} ({}); the rule allows {:g} %", rule.counter, what, changed_text(made.percent), figures,
                           rule.most_percent);
  } else {
    const bool same = std::abs(made.percent) < 1e-9;
    made.why = fmt::format("{} of {} {} ({})", rule.counter, what, same ? "did not change" : changed_text(made.percent), figures);
  }
  return made;
}

std::string op_name(const OpFigures& op) {
  const std::string direction = model::name_in(model::kDirections, op.direction);
  return fmt::format("{}{}{}", shown(op.name), direction.empty() ? "" : " ", direction);
}

Outcome judge_op_counter(const GateRule& rule, const OpPair& pair) {
  ConfigSums base, other;
  add_configs(*pair.base, rule.counter, base);
  add_configs(*pair.other, rule.counter, other);
  return judge_counter(base, other, rule, op_name(*pair.base));
}

bool is_worse(const Outcome& a, const Outcome& b) {
  const auto rank = [](const Outcome& one) {
    return one.verdict == GateVerdict::broken ? 2 : one.verdict == GateVerdict::unknown ? 1 : 0;
  };
  return rank(a) != rank(b) ? rank(a) > rank(b) : a.percent > b.percent;
}

// The worst of kinds of iterations, or of all where they are of one.
Outcome judge_times(const GateRule& rule, std::vector<TimePair> pairs) {
  if (pairs.empty()) return {GateVerdict::unknown, 0, "iterations are of several kinds, of which the runs have none in common"};
  test_times(pairs, rule.most_percent);
  std::vector<Outcome> outcomes;
  for (const TimePair& pair : pairs) outcomes.push_back(judge_time(pair, rule.most_percent));
  return std::move(*std::min_element(outcomes.begin(), outcomes.end(), is_worse));
}

Outcome judge_run(const GateRule& rule, const Comparison& comparison) {
  if (rule.kind != GateRule::Kind::counter) {
    const RunFigures &base = *comparison.base, &other = *comparison.other;
    const bool of_gpu = rule.kind == GateRule::Kind::gpu_time;
    if (comparison.is_mixed()) return judge_times(rule, kind_pairs(base, other, of_gpu));
    return judge_times(rule, {of_gpu ? gpu_pair(base, other) : iteration_pair(base, other)});
  }
  ConfigSums base, other;
  for (const OpFigures& op : comparison.base->ops) add_configs(op, rule.counter, base);
  for (const OpFigures& op : comparison.other->ops) add_configs(op, rule.counter, other);
  return judge_counter(base, other, rule, "the run");
}

std::vector<const OpPair*> ops_of(const GateRule& rule, const Comparison& comparison) {
  std::vector<const OpPair*> found;
  for (const OpPair& pair : comparison.ops) {
    if (pair.base == nullptr || pair.other == nullptr || !rule.ops(pair.base->name)) continue;
    if (rule.kind == GateRule::Kind::counter && pair.base->configs.empty()) continue;  // copies alone
    found.push_back(&pair);
  }
  return found;
}

std::vector<Outcome> judge_op_times(const GateRule& rule, const std::vector<const OpPair*>& ops) {
  std::vector<TimePair> times;
  for (const OpPair* op : ops) times.push_back(gpu_pair(*op->base, *op->other, "the GPU time of " + op_name(*op->base)));
  test_times(times, rule.most_percent);
  std::vector<Outcome> outcomes;
  for (const TimePair& pair : times) outcomes.push_back(judge_time(pair, rule.most_percent));
  return outcomes;
}

Outcome judge_ops(const GateRule& rule, const Comparison& comparison) {
  const std::vector<const OpPair*> ops = ops_of(rule, comparison);
  if (ops.empty()) return {GateVerdict::unknown, 0, "no op of both runs has a name that the rule takes"};
  std::vector<Outcome> outcomes;
  if (rule.kind != GateRule::Kind::counter) {
    outcomes = judge_op_times(rule, ops);
  } else {
    for (const OpPair* op : ops) outcomes.push_back(judge_op_counter(rule, *op));
  }
  Outcome& worst = *std::min_element(outcomes.begin(), outcomes.end(), is_worse);
  const auto broken =
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& one) { return one.verdict == GateVerdict::broken; });
  if (broken > 1) worst.why += fmt::format("; and {} more of {} ops", broken - 1, ops.size());
  return std::move(worst);
}

}  // namespace

bool is_clock_free(std::string_view metric) {
  constexpr std::string_view kSum = ".sum";
  constexpr std::array kCounts{"inst_executed", "inst_issued", "bytes",    "sectors",
                               "requests",      "wavefronts",  "ops_path", "bank_conflicts"};
  constexpr std::array kTimes{"cycles", "stalled", "duration", "time", "clock"};
  if (!metric.ends_with(kSum)) return false;
  const auto holds = [metric](std::string_view word) { return metric.find(word) != std::string_view::npos; };
  return std::any_of(kCounts.begin(), kCounts.end(), holds) && std::none_of(kTimes.begin(), kTimes.end(), holds);
}

std::vector<GateResult> check_gate(const std::vector<GateRule>& rules, const Comparison& comparison) {
  std::vector<GateResult> results;
  for (const GateRule& rule : rules) {
    const Outcome outcome = rule.ops ? judge_ops(rule, comparison) : judge_run(rule, comparison);
    results.push_back({&rule, outcome.verdict, (rule.name.empty() ? "" : rule.name + ": ") + outcome.why});
  }
  return results;
}

}  // namespace dlkprof::advise
