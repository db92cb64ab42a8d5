#include <algorithm>
#include <cmath>

#include "job/analysis_parts.h"

namespace dlkprof::job {
namespace {

constexpr double kLowest = 0.05, kMiddle = 0.5, kHighest = 0.95;

OpSpread spread_of(std::uint32_t op, std::uint32_t role, const std::vector<const OpOfRank*>& all, const JobAnalysis& job) {
  std::vector<double> means;
  double within = 0;
  const OpOfRank* most = all.front();
  for (const OpOfRank* one : all) {
    means.push_back(one->gpu_ns);
    within += one->deviation_ns * one->deviation_ns;
    if (one->gpu_ns > most->gpu_ns) most = one;
  }
  const Robust middle = robust(means);
  std::sort(means.begin(), means.end());
  OpSpread spread{op,
                  role,
                  all.size(),
                  means.front(),
                  quantile_of(means, kLowest),
                  quantile_of(means, kMiddle),
                  quantile_of(means, kHighest),
                  means.back(),
                  job.ranks[most->rank].number,
                  0,
                  0,
                  Cause::none};
  const auto n = static_cast<double>(all.size());
  spread.within = std::sqrt(within / n);
  double mean = 0, squares = 0;
  for (const double one : means) mean += one / n;
  for (const double one : means) squares += (one - mean) * (one - mean);
  spread.between = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
  if (all.size() > 1 && is_outlier(most->gpu_ns, middle, kLeastExcess * middle.median) && middle.median > 0)
    spread.cause = cause_of(most->work, median_work(all), most->gpu_ns / middle.median - 1);
  return spread;
}

}  // namespace

Work median_work(const std::vector<const OpOfRank*>& all) {
  Work work{};
  for (std::size_t i = 0; i < work.size(); ++i) {
    std::vector<double> values;
    for (const OpOfRank* one : all) {
      if (one->work[i] > 0) values.push_back(one->work[i]);
    }
    work[i] = static_cast<float>(robust(values).median);
  }
  return work;
}

// More work where instructions or bytes exceed the median by at least half of what the time does: the rest may be the cache's.
Cause cause_of(const Work& most, const Work& median, double excess) {
  constexpr double kHalf = 0.5;
  Cause cause = Cause::not_measured;
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (most[i] <= 0 || median[i] <= 0) continue;
    if (most[i] / median[i] - 1 >= kHalf * excess) return Cause::more_work;
    cause = Cause::same_work_slower;
  }
  return cause;
}

void compare_ops(JobFigures& figures) {
  JobAnalysis& job = figures.job;
  for (std::uint32_t op = 0; op < figures.times.size(); ++op) {
    std::map<std::uint32_t, std::vector<const OpOfRank*>> by_role;
    for (const OpOfRank& one : figures.times[op]) by_role[job.ranks[one.rank].role].push_back(&one);
    for (const auto& [role, all] : by_role) job.spreads.push_back(spread_of(op, role, all, job));
  }
  std::stable_sort(job.spreads.begin(), job.spreads.end(),
                   [](const OpSpread& a, const OpSpread& b) { return a.most - a.median > b.most - b.median; });
}

}  // namespace dlkprof::job
