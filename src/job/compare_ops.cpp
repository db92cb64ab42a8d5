#include <algorithm>
#include <cmath>
#include <optional>

#include "job/analysis_parts.h"
#include "job/op_columns.h"

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

// Names the op of each rank that exceeds the median of its role by most.
class WorstOps {
 public:
  explicit WorstOps(JobFigures& figures) : figures_(figures) {
    figures.worst_gpu.resize(figures.job.ranks.size());
    figures.worst_wait.resize(figures.job.ranks.size());
  }

  // An op over the ranks of a role.
  void see(std::uint32_t op, const std::vector<const OpOfRank*>& all) {
    const auto median_of = [&all](auto figure) {
      std::vector<double> values;
      for (const OpOfRank* one : all) values.push_back(figure(*one));
      return robust(std::move(values)).median;
    };
    const double gpu = median_of([](const OpOfRank& one) { return one.gpu_ns; });
    const double wait = median_of([](const OpOfRank& one) { return one.wait_ns; });
    const double both = median_of([](const OpOfRank& one) { return one.gpu_ns + one.wait_ns; });
    std::optional<Work> work;
    const auto take = [&](WorstOp& worst, const OpOfRank& one, double excess, double median) {
      if (excess <= worst.excess_ns) return;
      if (!work) work = median_work(all);
      worst = {op, excess, median > 0 ? cause_of(one.work, *work, excess / median) : Cause::not_measured};
    };
    for (const OpOfRank* one : all) {
      take(figures_.worst_gpu[one->rank], *one, one->gpu_ns - gpu, gpu);
      take(figures_.worst_wait[one->rank], *one, one->wait_ns - wait, wait);
      take(figures_.worst_before[{one->rank, one->segment}], *one, one->gpu_ns + one->wait_ns - both, both);
    }
  }

 private:
  JobFigures& figures_;
};

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

void compare_ops(JobDatabase& database, JobFigures& figures) {
  JobAnalysis& job = figures.job;
  WorstOps worst(figures);
  for (OpColumns columns(database); columns.next();) {
    std::map<std::uint32_t, std::vector<const OpOfRank*>> by_role;
    for (const OpOfRank& one : columns.ranks()) {
      by_role[job.ranks[one.rank].role].push_back(&one);
      RankRow& rank = job.ranks[one.rank];
      rank.compute_ns += one.gpu_ns;
      rank.instructions += one.work[0] > 0 ? one.work[0] : one.work[1];  // as kWorkMetrics has them
      rank.dram_bytes += one.work[2];
    }
    for (const auto& [role, all] : by_role) {
      job.spreads.push_back(spread_of(columns.op(), role, all, job));
      worst.see(columns.op(), all);
    }
  }
  std::stable_sort(job.spreads.begin(), job.spreads.end(),
                   [](const OpSpread& a, const OpSpread& b) { return a.most - a.median > b.most - b.median; });
}

}  // namespace dlkprof::job
