#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "job/compare/compare_jobs_report.h"
#include "report/compare/compare_report.h"
#include "report/compare/compare_words.h"
#include "report/format/layout.h"

namespace dlkprof::job {
namespace {

using advise::ChangeVerdict;
using advise::OpPair;
using report::CompareGrid;
using report::time_text_of;

constexpr std::size_t kLabelWidth = 32, kNameWidth = 80;

std::string label(const ComparedJob& job) { return printable(job.label, kLabelWidth); }
std::string signed_time(double ns) { return (ns < 0 ? "-" : "+") + time_text_of(std::abs(ns)); }

std::string ratio_of(double base, double other) { return base > 0 ? report::times_text(other / base) : ""; }

CompareGrid jobs_grid(const ComparedJobs& compared) {
  CompareGrid grid{"The jobs", {""}, {}, ""};
  const bool is_pair = compared.jobs.size() == 2;
  for (const ComparedJob& job : compared.jobs) grid.columns.push_back(label(job));
  if (is_pair) grid.columns.emplace_back("ratio");
  const auto add = [&](const char* name, auto figure, bool is_time) {
    std::vector<std::string> cells{name};
    std::vector<double> values;
    for (const ComparedJob& job : compared.jobs) values.push_back(figure(job));
    for (const double value : values)
      cells.push_back(is_time ? time_text_of(value) : report::with_separators(static_cast<std::uint64_t>(value)));
    if (is_pair) cells.push_back(ratio_of(values[0], values[1]));
    grid.rows.push_back({std::move(cells), ""});
  };
  const auto add_median = [&add](const char* name, auto figure) {
    add(
        name,
        [figure](const ComparedJob& one) {
          std::vector<double> values;
          for (const RankRow& rank : one.job.ranks) values.push_back(figure(rank));
          return robust(std::move(values)).median;
        },
        true);
  };
  add(
      "Ranks", [](const ComparedJob& job) { return static_cast<double>(job.job.ranks.size()); }, false);
  add(
      "Iterations", [](const ComparedJob& job) { return static_cast<double>(job.figures.iteration.n); }, false);
  add(
      "Iteration time, median", [](const ComparedJob& job) { return job.figures.iteration.median; }, true);
  add_median("Computation per iteration", [](const RankRow& rank) { return rank.compute_ns; });
  add_median("Collectives alone", [](const RankRow& rank) { return rank.exposed_ns; });
  add_median("Waiting for others in collectives", [](const RankRow& rank) { return rank.waited_ns; });
  add_median("Idle at the start of iterations", [](const RankRow& rank) { return rank.input_ns; });
  add_median("Idle later", [](const RankRow& rank) { return rank.idle_ns; });
  return grid;
}

CompareGrid ops_grid_of(const JobComparison& comparison, std::size_t most) {
  CompareGrid grid{"Ops, by GPU time per iteration (median over ranks)",
                   {"op", label(*comparison.base), label(*comparison.other), "ratio", "found", "cause"},
                   {},
                   ""};
  const std::vector<OpPair>& ops = comparison.figures.ops;
  for (std::size_t i = 0; i < std::min(most, ops.size()); ++i) {
    const OpPair& pair = ops[i];
    const bool both = pair.base != nullptr && pair.other != nullptr;
    const auto time = [](const advise::OpFigures* op) { return op == nullptr ? "" : time_text_of(op->gpu.median); };
    const advise::OpFigures& op = pair.either();
    const std::string direction = model::name_in(model::kDirections, op.direction);
    const bool is_slower = pair.change.verdict == ChangeVerdict::slower;
    grid.rows.push_back({{printable(op.type, kNameWidth) + (direction.empty() ? "" : " " + direction), time(pair.base),
                          time(pair.other), both && pair.change.ratio ? report::times_text(*pair.change.ratio) : "",
                          both ? report::verdict(pair.change.verdict) : "one job only",
                          is_slower ? cause_text(comparison.cause_of_op(pair)) : ""},
                         printable(op.name, kNameWidth * 2)});
  }
  if (ops.size() > most) grid.more = "and " + report::counted(ops.size() - most, "more op", "more ops");
  return grid;
}

CompareGrid ranks_grid(const JobComparison& comparison, std::size_t most) {
  CompareGrid grid{"Ranks, by what their own time grew beyond that of the others",
                   {"rank", label(*comparison.base), label(*comparison.other), "beyond others", "was", "is"},
                   {},
                   ""};
  const std::size_t shown = std::min(most, comparison.ranks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RankChange& rank = comparison.ranks[i];
    grid.rows.push_back(
        {{fmt::format("{} ({})", rank.base->number, printable(rank.other->head->identity.host, kLabelWidth)),
          time_text_of(rank.base_own_ns), time_text_of(rank.own_ns), signed_time(rank.excess_ns), rank.base_rule, rank.rule},
         ""});
  }
  if (comparison.ranks.size() > shown)
    grid.more = "and " + report::counted(comparison.ranks.size() - shown, "more rank", "more ranks");
  return grid;
}

CompareGrid collectives_grid(const JobComparison& comparison, std::size_t most) {
  CompareGrid grid{"Collectives, mean of communication alone",
                   {"collective", "bytes", label(*comparison.base), label(*comparison.other), "ratio", "bus, base", "bus"},
                   {},
                   ""};
  const std::vector<CollectivePair> pairs = collective_pairs(comparison);
  for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i) {
    const auto& [key, base, other] = pairs[i];
    const CollectiveFigures& either = base != nullptr ? *base : *other;
    const auto time = [](const CollectiveFigures* one) { return one == nullptr ? "" : time_text_of(one->alone_ns); };
    const auto bus = [](const CollectiveFigures* one) {
      return one == nullptr || !one->bus_bytes_per_s ? "" : report::short_quantity(*one->bus_bytes_per_s, "byte/s");
    };
    grid.rows.push_back(
        {{printable(key.first, kNameWidth), either.bytes ? report::short_quantity(*either.bytes, "byte") : "", time(base),
          time(other), base != nullptr && other != nullptr ? ratio_of(base->alone_ns, other->alone_ns) : "", bus(base),
          bus(other)},
         ""});
  }
  if (pairs.size() > most) grid.more = fmt::format("and {} more", report::with_separators(pairs.size() - most));
  return grid;
}

std::string footnote() {
  return fmt::format(
      "Iteration times are means over ranks. A rank's own time is an iteration without waiting for others in collectives. Of ops "
      "each rank gives one value, its mean over iterations; an op counts as faster or slower where the Mann-Whitney U test over "
      "ranks, corrected after Holm for the number of ops, gives p < {} with at least {} ranks on either side, and where it "
      "changed by more than two runs of one program differ by (docs/user/compare.md).",
      advise::kSignificance, advise::kLeastValues);
}

}  // namespace

report::CompareView compare_jobs_view(const ComparedJobs& compared, std::size_t most) {
  report::CompareView view;
  const bool is_pair = compared.jobs.size() == 2;
  view.title =
      fmt::format("{} compared with {}", is_pair ? label(compared.jobs.back()) : fmt::format("{} jobs", compared.jobs.size() - 1),
                  label(compared.jobs.front()));
  if (!is_pair) view.sections.push_back({"The jobs", {}, {jobs_grid(compared)}});
  for (const JobComparison& comparison : compared.pairs) {
    report::CompareSection& section = view.sections.emplace_back();
    section.heading =
        is_pair ? "What changed" : fmt::format("{} compared with {}", label(*comparison.other), label(*comparison.base));
    section.sentences = compare_jobs_sentences(comparison);
    if (is_pair) section.grids.push_back(jobs_grid(compared));
    section.grids.push_back(ops_grid_of(comparison, most));
    section.grids.push_back(ranks_grid(comparison, most));
    section.grids.push_back(collectives_grid(comparison, most));
  }
  view.footnotes.push_back(footnote());
  return view;
}

}  // namespace dlkprof::job
