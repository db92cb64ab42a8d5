#include <algorithm>
#include <cmath>
#include <set>

#include "advise/compare/gate.h"
#include "job/compare/compare_jobs.h"
#include "job/op_columns.h"
#include "model/names.h"

namespace dlkprof::job {
namespace {

model::Direction direction_of(const std::string& text) {
  const auto* place = std::find(model::kDirections.begin(), model::kDirections.end(), text);
  return place == model::kDirections.end() ? model::Direction::none
                                           : static_cast<model::Direction>(place - model::kDirections.begin());
}

// What an op counts, by metric: means over the ranks where it was measured.
using Counts = std::map<std::string, std::pair<double, double>>;  // sum, ranks

class JobFiguresMaker {
 public:
  JobFiguresMaker(JobDatabase& database, const JobAnalysis& job) : database_(database), job_(job) {}

  advise::RunFigures make(std::vector<Work>& work, bool with_counters) {
    about();
    iterations();
    if (with_counters) counters();
    for (OpColumns columns(database_); columns.next();) op(columns, work);
    return std::move(figures_);
  }

 private:
  void about();
  void iterations();
  void counters();
  void op(const OpColumns& columns, std::vector<Work>& work);

  JobDatabase& database_;
  const JobAnalysis& job_;
  advise::RunFigures figures_;
  std::map<std::uint32_t, Counts> counts_;  // by op
};

void JobFiguresMaker::about() {
  std::set<std::string> gpus;
  for (const auto& [number, head] : job_.heads) {
    if (!head.gpu.empty()) gpus.insert(head.gpu);
    if (figures_.start_unix_ns == 0) figures_.start_unix_ns = head.identity.start_unix_ns;
  }
  figures_.gpus.assign(gpus.begin(), gpus.end());
  figures_.processes = job_.ranks.size();
}

// Those that at least half of the ranks have. GPU time is that of all but collectives, in which ranks wait for others.
void JobFiguresMaker::iterations() {
  struct Sum {
    double length_ns = 0, gpu_ns = 0, ranks = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  std::vector<double> launches;
  for (const RankRow& rank : job_.ranks) {
    for (const RankIteration& one : database_.read_iterations(rank.number)) {
      Sum& sum = sums[one.iteration];
      sum.length_ns += static_cast<double>(one.length_ns);
      sum.gpu_ns += static_cast<double>(one.gpu_ns) - static_cast<double>(one.exposed_ns);
      ++sum.ranks;
    }
    if (rank.iterations > 0) launches.push_back(static_cast<double>(rank.head->launches) / static_cast<double>(rank.iterations));
  }
  for (const auto& [iteration, sum] : sums) {
    if (2 * sum.ranks < static_cast<double>(job_.ranks.size())) continue;
    if (figures_.iteration_ns.empty()) figures_.first = iteration;
    figures_.last = iteration;
    figures_.iteration_ns.push_back(sum.length_ns / sum.ranks);
    figures_.gpu_ns.push_back(sum.gpu_ns / sum.ranks);
  }
  figures_.has_iterations = !figures_.iteration_ns.empty();
  figures_.iteration = advise::spread_of(figures_.iteration_ns);
  figures_.gpu = advise::spread_of(figures_.gpu_ns);
  figures_.launches = figures_.kernels = advise::spread_of(std::move(launches));
}

void JobFiguresMaker::counters() {
  const std::vector<std::string>& names = database_.names().metrics;
  std::vector<bool> taken;
  for (const std::string& name : names) taken.push_back(advise::is_clock_free(name));
  for (const RankRow& rank : job_.ranks) {
    for (const OpCounter& one : database_.read_counters(rank.number)) {
      if (!taken[one.metric]) continue;
      auto& [sum, ranks] = counts_[one.op][names[one.metric]];
      sum += one.value;
      ++ranks;
    }
  }
}

void JobFiguresMaker::op(const OpColumns& columns, std::vector<Work>& work) {
  const OpName& name = job_.ops[columns.op()];
  advise::OpFigures made;
  made.name = name.name;
  made.type = name.type;
  made.direction = direction_of(name.direction);
  std::vector<const OpOfRank*> all;
  advise::KernelFigures launched;  // of all its kernels, copies and sets
  const auto ranks = static_cast<double>(columns.ranks().size());
  for (const OpOfRank& one : columns.ranks()) {
    all.push_back(&one);
    launched.launches += one.launches / ranks;
    made.gpu_ns.push_back(one.gpu_ns);
    made.mean_gpu_ns += one.gpu_ns / ranks;
  }
  made.values = "ranks";
  made.occurs = all.size();
  made.gpu = advise::spread_of(made.gpu_ns);
  if (const auto counts = counts_.find(columns.op()); counts != counts_.end()) {
    advise::ConfigFigures config{name.name + '\0' + name.direction + '\0' + name.type, launched.launches, {}};
    for (const auto& [metric, sum] : counts->second) {
      if (config.launches > 0) config.means[metric] = sum.first / sum.second / config.launches;
    }
    made.configs.push_back(std::move(config));
  }
  made.kernels.push_back(std::move(launched));
  work.push_back(median_work(all));
  figures_.ops.push_back(std::move(made));
}

}  // namespace

advise::RunFigures figures_of_job(JobDatabase& database, const JobAnalysis& job, std::vector<Work>& work, bool with_counters) {
  return JobFiguresMaker(database, job).make(work, with_counters);
}

}  // namespace dlkprof::job
