#include <algorithm>
#include <cmath>

#include "job/compare/compare_jobs.h"
#include "job/op_columns.h"

namespace dlkprof::job {
namespace {

double own_ns(const RankRow& rank) { return rank.length.mean - rank.waited_ns; }

// The finding that names a rank. Of a slow host only the first rank is named.
std::string rule_of(const JobAnalysis& job, const RankRow& rank) {
  const auto found = std::find_if(job.findings.begin(), job.findings.end(), [&rank](const JobFinding& one) {
    return one.rank == rank.number && one.rule != "uneven_stages";
  });
  if (found != job.findings.end()) return found->rule;
  return rank.slow ? "slow_host" : "";
}

class RankComparer {
 public:
  RankComparer(const JobAnalysis& base, const JobAnalysis& other) : base_(base), other_(other) {
    for (std::size_t b = 0, o = 0; b < base.ranks.size() && o < other.ranks.size();) {
      const std::uint32_t number = base.ranks[b].number;
      if (number == other.ranks[o].number)
        pair(b++, o++);
      else
        number < other.ranks[o].number ? ++b : ++o;
    }
  }

  std::vector<RankChange> run(JobDatabase& base, JobDatabase& other) {
    find_ops(base, other);
    std::vector<double> grown;
    for (const RankChange& one : changes_) grown.push_back(one.own_ns - one.base_own_ns);
    const double middle = robust(std::move(grown)).median;
    for (RankChange& one : changes_) one.excess_ns = one.own_ns - one.base_own_ns - middle;
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const RankChange& a, const RankChange& b) { return a.excess_ns > b.excess_ns; });
    return std::move(changes_);
  }

 private:
  void pair(std::size_t base, std::size_t other) {
    const RankRow &before = base_.ranks[base], &after = other_.ranks[other];
    base_places_.push_back(base);
    other_places_.push_back(other);
    RankChange change{&before, &after, own_ns(before), own_ns(after)};
    change.base_rule = rule_of(base_, before);
    change.rule = rule_of(other_, after);
    changes_.push_back(std::move(change));
  }
  void find_ops(JobDatabase& base, JobDatabase& other);
  void see_op(const std::string& name, std::span<const OpOfRank> base, std::span<const OpOfRank> other);

  const JobAnalysis &base_, &other_;
  std::vector<RankChange> changes_;
  std::vector<std::size_t> base_places_, other_places_;  // of the ranks of changes_ in each job
};

// Both jobs number ops by their names.
void RankComparer::find_ops(JobDatabase& base, JobDatabase& other) {
  OpColumns before(base), after(other);
  bool has_before = before.next(), has_after = after.next();
  while (has_before && has_after) {
    const OpName &a = base_.ops[before.op()], &b = other_.ops[after.op()];
    if (a == b) see_op(a.name, before.ranks(), after.ranks());
    const bool takes_before = a <= b, takes_after = b <= a;
    if (takes_before) has_before = before.next();
    if (takes_after) has_after = after.next();
  }
}

void RankComparer::see_op(const std::string& name, std::span<const OpOfRank> base, std::span<const OpOfRank> other) {
  struct Growth {
    std::size_t place = 0;
    const OpOfRank *base = nullptr, *other = nullptr;
    double ns = 0;
  };
  std::vector<Growth> all;
  std::vector<double> values;
  const auto of = [](std::span<const OpOfRank> ranks, std::size_t rank) {
    const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank,
                                        [](const OpOfRank& one, std::size_t wanted) { return one.rank < wanted; });
    return found == ranks.end() || found->rank != rank ? nullptr : &*found;
  };
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const OpOfRank *before = of(base, base_places_[i]), *after = of(other, other_places_[i]);
    if (before == nullptr || after == nullptr) continue;
    all.push_back({i, before, after, after->gpu_ns + after->wait_ns - before->gpu_ns - before->wait_ns});
    values.push_back(all.back().ns);
  }
  const double middle = robust(std::move(values)).median;
  for (const Growth& one : all) {
    RankChange& change = changes_[one.place];
    if (one.ns - middle <= change.op_excess_ns) continue;
    change.op = name;
    change.op_excess_ns = one.ns - middle;
    const bool by_gpu = one.other->gpu_ns - one.base->gpu_ns > one.ns / 2 && one.base->gpu_ns > 0;
    change.cause = by_gpu ? cause_of(one.other->work, one.base->work, one.other->gpu_ns / one.base->gpu_ns - 1) : Cause::none;
  }
}

}  // namespace

std::vector<RankChange> compare_ranks(const JobAnalysis& base_job, JobDatabase& base, const JobAnalysis& other_job,
                                      JobDatabase& other) {
  return RankComparer(base_job, other_job).run(base, other);
}

}  // namespace dlkprof::job
