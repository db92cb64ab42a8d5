#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "job/compare/compare_jobs_report.h"
#include "report/compare/compare_words.h"

namespace dlkprof::job {
namespace {

using advise::ChangeVerdict;
using advise::OpPair;
using report::time_text_of;
using Sentences = std::vector<std::string>;

constexpr std::size_t kMostNamed = 5, kLabel = 40, kName = 120;
constexpr double kLeastGrowth = 0.01;  // of an iteration: less is not worth a sentence

std::string name_of(const ComparedJob& job) { return printable(job.label, kLabel); }

std::string listed(const std::vector<std::uint32_t>& numbers) {
  const std::size_t shown = std::min(numbers.size(), 2 * kMostNamed);
  const std::span<const std::uint32_t> first(numbers.data(), shown);
  return fmt::format("{}{}", fmt::join(first, ", "),
                     numbers.size() > shown ? fmt::format(" and {} more", numbers.size() - shown) : "");
}

void say_unlike(const JobComparison& of, Sentences& said) {
  const auto only = [&said](const std::vector<std::uint32_t>& numbers, const ComparedJob& job) {
    if (!numbers.empty()) said.push_back(fmt::format("Ranks of {} alone: {}.", name_of(job), listed(numbers)));
  };
  only(of.only_base, *of.base);
  only(of.only_other, *of.other);
  if (of.base->figures.gpus != of.other->figures.gpus) {
    said.push_back(fmt::format("The GPUs differ: {} has {}, {} has {}.", name_of(*of.base),
                               printable(fmt::format("{}", fmt::join(of.base->figures.gpus, ", ")), kName), name_of(*of.other),
                               printable(fmt::format("{}", fmt::join(of.other->figures.gpus, ", ")), kName)));
  }
  const std::size_t ranks = std::min(of.base->job.ranks.size(), of.other->job.ranks.size());
  if (ranks < advise::kLeastValues) {
    said.push_back(
        fmt::format("Ops are compared over ranks, which takes {} of them on either side to tell a change from noise: "
                    "ratios are shown, and not judged.",
                    advise::kLeastValues));
  }
}

// What an iteration takes longer, part by part.
void say_times(const JobComparison& of, Sentences& said) {
  const auto& [base_ns, other_ns, ratio, p, verdict] = of.figures.iteration;
  if (!ratio) {
    said.emplace_back("Iterations are not known in both jobs.");
    return;
  }
  const std::string change =
      verdict == ChangeVerdict::no_change ? "no more than the spread of iterations explains" : report::times_text(*ratio);
  said.push_back(fmt::format("An iteration takes {} in {} and {} in {}: {}.", time_text_of(base_ns), name_of(*of.base),
                             time_text_of(other_ns), name_of(*of.other), change));
  if (verdict == ChangeVerdict::no_change) return;
  struct Part {
    const char* name;
    double (*of)(const RankRow&);
  };
  constexpr std::array kParts{Part{"computation", [](const RankRow& rank) { return rank.gpu_ns - rank.exposed_ns; }},
                              Part{"waiting for others in collectives", [](const RankRow& rank) { return rank.waited_ns; }},
                              Part{"communication alone", [](const RankRow& rank) { return rank.exposed_ns - rank.waited_ns; }},
                              Part{"an idle GPU at the start of iterations", [](const RankRow& rank) { return rank.input_ns; }},
                              Part{"an idle GPU later", [](const RankRow& rank) { return rank.idle_ns; }}};
  const auto median = [](const JobAnalysis& job, const Part& part) {
    std::vector<double> values;
    for (const RankRow& rank : job.ranks) values.push_back(part.of(rank));
    return robust(std::move(values)).median;
  };
  const Part* most = nullptr;
  double most_ns = 0;
  for (const Part& part : kParts) {
    const double grown = (median(of.other->job, part) - median(of.base->job, part)) * (other_ns > base_ns ? 1 : -1);
    if (grown <= most_ns) continue;
    most = &part;
    most_ns = grown;
  }
  if (most != nullptr) {
    said.push_back(fmt::format("On the median rank {} takes {} {} per iteration: more than anything else changed.", most->name,
                               time_text_of(most_ns), other_ns > base_ns ? "longer" : "less"));
  }
}

std::string cause_words(Cause cause) { return cause == Cause::none ? "" : fmt::format(" ({})", cause_text(cause)); }

void say_ranks(const JobComparison& of, Sentences& said) {
  std::vector<std::uint32_t> recovered;
  std::size_t slow = 0;
  for (const RankChange& rank : of.ranks) {
    if (rank.recovered()) recovered.push_back(rank.base->number);
    const bool grew = rank.excess_ns > std::max(1.0, kLeastGrowth * of.figures.iteration.base_ns);
    if (!rank.became_slow() || ++slow > kMostNamed) continue;
    std::string text = fmt::format("Rank {} on {} became slow ({}): without waiting for others it takes {} per iteration, was {}",
                                   rank.other->number, printable(rank.other->head->identity.host, kLabel), rank.rule,
                                   time_text_of(rank.own_ns), time_text_of(rank.base_own_ns));
    if (grew && !rank.op.empty()) {
      text += fmt::format("; {} grew by most, {} more than on the others{}", printable(rank.op, kName),
                          time_text_of(rank.op_excess_ns), cause_words(rank.cause));
    }
    said.push_back(text + ".");
  }
  if (slow > kMostNamed) said.push_back(fmt::format("{} more ranks became slow.", slow - kMostNamed));
  std::sort(recovered.begin(), recovered.end());
  if (!recovered.empty()) said.push_back(fmt::format("Ranks that are no longer slow: {}.", listed(recovered)));
}

void say_ops(const JobComparison& of, Sentences& said) {
  std::vector<const OpPair*> slower;
  std::size_t faster = 0;
  for (const OpPair& pair : of.figures.ops) {
    const ChangeVerdict verdict = pair.change.verdict;
    const bool untested = verdict == ChangeVerdict::untested && pair.base != nullptr && pair.other != nullptr;
    const bool grew = pair.change.other_ns > pair.change.base_ns;
    if (verdict == ChangeVerdict::slower || (untested && grew && is_beyond_runs(pair))) slower.push_back(&pair);
    if (verdict == ChangeVerdict::faster || (untested && !grew && is_beyond_runs(pair))) ++faster;
  }
  const auto grown = [](const OpPair* pair) { return pair->change.other_ns - pair->change.base_ns; };
  std::stable_sort(slower.begin(), slower.end(), [&grown](const OpPair* a, const OpPair* b) { return grown(a) > grown(b); });
  said.push_back(fmt::format("On the median rank GPU time is higher for {} of {} ops and lower for {}.", slower.size(),
                             of.figures.ops.size(), faster));
  for (std::size_t i = 0; i < std::min(slower.size(), kMostNamed); ++i) {
    const OpPair& pair = *slower[i];
    said.push_back(fmt::format("{} takes {} per iteration on the median rank, was {}{}.", report::op_words(*pair.other),
                               time_text_of(pair.change.other_ns), time_text_of(pair.change.base_ns),
                               cause_words(of.cause_of_op(pair))));
  }
}

void say_collectives(const JobComparison& of, Sentences& said) {
  constexpr double kSlower = 1.1;
  std::size_t named = 0;
  for (const auto& [key, base, other] : collective_pairs(of)) {
    if (base == nullptr || other == nullptr || base->alone_ns <= 0 || other->alone_ns < kSlower * base->alone_ns) continue;
    if (++named > kMostNamed) break;
    said.push_back(fmt::format("{}{} takes {} alone, was {}: {}.", printable(key.first, kName),
                               other->bytes ? fmt::format(" of {:.0f} bytes", *other->bytes) : "", time_text_of(other->alone_ns),
                               time_text_of(base->alone_ns), report::times_text(other->alone_ns / base->alone_ns)));
  }
}

}  // namespace

std::vector<std::string> compare_jobs_sentences(const JobComparison& comparison) {
  Sentences said;
  say_times(comparison, said);
  say_ranks(comparison, said);
  say_ops(comparison, said);
  say_collectives(comparison, said);
  say_unlike(comparison, said);
  return said;
}

}  // namespace dlkprof::job
