#include "job/compare/compare_jobs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "advise/compare/gate_times.h"

namespace dlkprof::job {
namespace {

std::map<CollectiveKey, CollectiveFigures> collectives_of(const JobAnalysis& job) {
  std::map<CollectiveKey, CollectiveFigures> all;
  for (const CollectiveKindRow& row : job.kind_rows) {
    const int bits = row.bytes ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*row.bytes))) : -1;
    CollectiveFigures& one = all[{job.kinds[row.kind], bits}];
    const auto before = static_cast<double>(one.collectives), more = static_cast<double>(row.collectives);
    const auto mean = [&](double a, double b) { return (a * before + b * more) / (before + more); };
    if (row.bytes) one.bytes = mean(one.bytes.value_or(0), *row.bytes);
    if (row.bus_bytes_per_s) {  // bytes over time, of all roles
      const double moved = one.bus_bytes_per_s.value_or(0) * one.alone_ns * before + *row.bus_bytes_per_s * row.alone_ns * more;
      const double time = one.alone_ns * before + row.alone_ns * more;
      if (time > 0) one.bus_bytes_per_s = moved / time;
    }
    one.alone_ns = mean(one.alone_ns, row.alone_ns);
    one.waited_ns = mean(one.waited_ns, more > 0 ? row.waited_ns / more : 0);
    one.collectives += row.collectives;
  }
  return all;
}

ComparedJob load(const LabelledJob& from, JobDatabase& database, bool with_counters) {
  ComparedJob made;
  made.label = from.label;
  made.job = analyse_job(database);
  made.figures = figures_of_job(database, made.job, made.work, with_counters);
  made.figures.label = from.label;
  made.collectives = collectives_of(made.job);
  return made;
}

std::vector<std::uint32_t> numbers(const JobAnalysis& job) {
  std::vector<std::uint32_t> all;
  for (const RankRow& rank : job.ranks) all.push_back(rank.number);
  return all;
}

JobComparison compare(const ComparedJob& base, JobDatabase& base_database, const ComparedJob& other,
                      JobDatabase& other_database) {
  JobComparison made{.base = &base, .other = &other};
  made.figures = advise::compare(base.figures, other.figures);
  for (advise::OpPair& pair : made.figures.ops) {
    const bool judged = pair.change.verdict != advise::ChangeVerdict::untested;
    if (judged && !is_beyond_runs(pair)) pair.change.verdict = advise::ChangeVerdict::no_change;
  }
  made.ranks = compare_ranks(base.job, base_database, other.job, other_database);
  const std::vector<std::uint32_t> before = numbers(base.job), after = numbers(other.job);
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(made.only_base));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(made.only_other));
  return made;
}

}  // namespace

bool is_beyond_runs(const advise::OpPair& pair) {
  const double launches = pair.base == nullptr || pair.base->kernels.empty() ? 1 : pair.base->kernels.front().launches;
  const double allowed = advise::kRunsDifferShare * pair.change.base_ns + advise::kRunsDifferNs * std::sqrt(launches);
  return std::abs(pair.change.other_ns - pair.change.base_ns) > allowed;
}

Cause JobComparison::cause_of_op(const advise::OpPair& pair) const {
  if (pair.base == nullptr || pair.other == nullptr || !pair.change.ratio || *pair.change.ratio <= 1) return Cause::none;
  const auto work_of = [](const ComparedJob& job, const advise::OpFigures& op) -> const Work& {
    return job.work[static_cast<std::size_t>(&op - job.figures.ops.data())];
  };
  return cause_of(work_of(*other, *pair.other), work_of(*base, *pair.base), *pair.change.ratio - 1);
}

std::vector<CollectivePair> collective_pairs(const JobComparison& comparison) {
  std::map<CollectiveKey, CollectivePair> all;
  for (const auto& [key, one] : comparison.base->collectives) all[key] = {key, &one, nullptr};
  for (const auto& [key, one] : comparison.other->collectives) {
    all[key].key = key;
    all[key].other = &one;
  }
  std::vector<CollectivePair> pairs;
  for (const auto& [key, pair] : all) pairs.push_back(pair);
  return pairs;
}

ComparedJobs compare_jobs(const std::vector<LabelledJob>& jobs, bool with_counters) {
  ComparedJobs all;
  std::vector<JobDatabase> databases;
  databases.reserve(jobs.size());
  all.jobs.reserve(jobs.size());
  for (const LabelledJob& job : jobs) {
    databases.emplace_back(job.path);
    all.jobs.push_back(load(job, databases.back(), with_counters));
  }
  for (std::size_t i = 1; i < all.jobs.size(); ++i)
    all.pairs.push_back(compare(all.jobs.front(), databases.front(), all.jobs[i], databases[i]));
  return all;
}

}  // namespace dlkprof::job
