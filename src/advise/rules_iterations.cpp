// Rules about iterations.
#include <fmt/format.h>

#include "advise/rule_parts.h"
#include "model/aggregate/steady_range.h"

namespace dlkprof::advise {
namespace {

constexpr double kMostDeviation = model::kLittleVariation;  // % of the mean
constexpr std::size_t kLeastIterations = model::kLeastIterationsForRule;

void find_varying_range(const Case& run, Findings& findings) {
  const model::Aggregate& made = run.profile.aggregate;
  const model::Summary& summary = made.summary;
  // Of several kinds their lengths differ, which is no variation.
  if (made.is_mixed() || summary.aggregated_iterations < kLeastIterations || summary.mean_iteration_ns <= 0) return;
  const double deviation = 100 * summary.iteration_deviation_ns / summary.mean_iteration_ns;
  if (deviation <= kMostDeviation) return;
  const bool is_steady = made.first_iteration == made.steady.first && made.last_iteration == made.steady.last;
  std::string advice;
  if (!is_steady && made.steady.found) {
    advice = fmt::format("Leave out --iter_start and --iter_stop: iterations {} to {} are the steady range.", made.steady.first,
                         made.steady.last);
  }
  findings.push_back(
      of_run(run,
             fmt::format("The lengths of iterations {} to {} have a standard deviation of {:.3g} % of their mean{}.",
                         made.first_iteration, made.last_iteration, deviation,
                         is_steady ? ", although warm-up and what follows the loop are left out" : ""),
             std::nullopt));
  findings.back().recommendation = advice;
}

void find_no_iterations(const Case& run, Findings& findings) {
  const model::Fold& fold = run.profile.fold;
  if (fold.key_nodes_found > 0 || run.profile.timeline.activities.empty()) return;
  findings.push_back(
      of_run(run,
             fold.key_node.empty()
                 ? "No iterations were found: no key node is known for this program, and its launches do not repeat."
                 : fmt::format("No iterations were found: the key node {} never ends within the profile.", shown(fold.key_node)),
             std::nullopt));
}

}  // namespace

std::vector<Rule> iteration_rules() {
  return {
      {"iteration_range", "Bad Iteration Range Detector", "Iterations differ much in length", "All",
       fmt::format(
           "At least {} iterations are aggregated, and the standard deviation of their lengths is above {:g} % of the "
           "mean. Unless --iter_start or --iter_stop is given, warm-up and what follows the loop are left out first, by {}.",
           kLeastIterations, kMostDeviation, model::kSteadyRangeRule),
       "The guide (12.4) asks for \"little time variation\"; the figures are ours.", "None: only the figures suffer.",
       "Look for what differs between iterations: view iterations of the database has the length of each. Usual causes are input "
       "shapes, checkpoints, the data loader, and other programs on the machine.",
       "", find_varying_range},
      {"no_iterations", "No Iteration Detector", "No iterations were found", "All",
       "The key node was found nowhere, or none is known, and the GPU did any work.", "The guide (10.10).", "None.",
       "Choose an op that ends once per iteration from the report detail, and fold again: --database=<file> --key_node=<name or "
       "op ID>",
       "", find_no_iterations}};
}

}  // namespace dlkprof::advise
