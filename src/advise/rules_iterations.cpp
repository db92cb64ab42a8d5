// Rules about iterations.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "advise/rule_parts.h"
#include "model/aggregate/aggregate_parts.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

constexpr double kMostDeviation = 10;   // % of the mean
constexpr double kIdealDeviation = 10;  // % of the median, of each iteration of an ideal range
constexpr std::size_t kLeastIterations = 3;

std::vector<std::int64_t> iteration_times(const model::Fold& fold) {
  std::vector<std::int64_t> times;
  for (std::uint32_t i = 0; i < fold.iterations.size(); ++i) {
    times.push_back(model::elapsed_ns(fold.iterations[i].start_ns, model::iteration_end_ns(fold, i)));
  }
  return times;
}

struct Stretch {
  std::size_t first = 0, count = 0;
};

// The longest stretch of iterations that each take about the median time of all.
Stretch ideal_range(const std::vector<std::int64_t>& times) {
  std::vector<std::int64_t> sorted = times;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const auto median = static_cast<double>(*middle);
  Stretch best;
  Stretch now;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool steady = std::abs(static_cast<double>(times[i]) - median) <= median * kIdealDeviation / 100;
    now = steady ? Stretch{now.count == 0 ? i : now.first, now.count + 1} : Stretch{};
    if (now.count > best.count) best = now;
  }
  return best;
}

void find_bad_range(const Case& run, Findings& findings) {
  const model::Summary& summary = run.profile.aggregate.summary;
  if (summary.aggregated_iterations < kLeastIterations || summary.mean_iteration_ns <= 0) return;
  const double deviation = 100 * summary.iteration_deviation_ns / summary.mean_iteration_ns;
  if (deviation <= kMostDeviation) return;
  const Stretch ideal = ideal_range(iteration_times(run.profile.fold));
  std::string steady;
  if (ideal.count >= kLeastIterations) {
    steady = fmt::format("Aggregate the steady range: --database=<file> --iter_start={} --iter_stop={}", ideal.first,
                         ideal.first + ideal.count - 1);
  }
  findings.push_back(of_run(run,
                            fmt::format("The {} iterations aggregated differ by {:.3g} % of their mean length (standard "
                                        "deviation): means over them say little of a usual iteration.",
                                        summary.aggregated_iterations, deviation),
                            std::nullopt));
  findings.back().recommendation = steady;
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
       fmt::format("At least {} iterations are aggregated, and the standard deviation of their lengths is above {:g} % of the "
                   "mean. The range recommended is the longest stretch of at least as many that are each within {:g} % of "
                   "the median.",
                   kLeastIterations, kMostDeviation, kIdealDeviation),
       "The guide (12.4) asks for \"little time variation\"; the figures are ours.",
       "None: it is the figures that suffer, not the program.",
       "Look at the lengths of iterations in the report iteration, and pick a steady range with --iter_start and --iter_stop.",
       "", find_bad_range},
      {"no_iterations", "No Iteration Detector", "No iterations were found", "All",
       "The key node was found nowhere, or none is known, and the GPU did any work.", "The guide (10.10).", "None.",
       "Choose an op that ends once an iteration from the report detail, and fold again: --database=<file> --key_node=<name or "
       "op ID>",
       "", find_no_iterations}};
}

}  // namespace dlkprof::advise
