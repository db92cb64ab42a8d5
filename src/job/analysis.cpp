#include "job/analysis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "job/analysis_parts.h"
#include "job/clocks.h"

namespace dlkprof::job {

Robust robust(std::vector<double> values) {
  if (values.empty()) return {};
  const auto middle = [](std::vector<double>& all) {
    // The lower one of two: beside each other, the rank that takes longer is the one that is late.
    const auto half = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), half, all.end());
    return *half;
  };
  Robust result;
  result.median = middle(values);
  for (double& value : values) value = std::abs(value - result.median);
  result.mad = middle(values);
  return result;
}

bool is_outlier(double value, const Robust& all, double least) {
  constexpr double kDeviations = 3, kNormal = 1.4826;
  return value - all.median > std::max(kDeviations * kNormal * all.mad, least);
}

double quantile_of(std::span<const double> sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(sorted.size() - 1)))];
}

const char* cause_text(Cause cause) {
  constexpr std::array kTexts{"", "same work, slower", "more work", "work not measured"};
  return kTexts.at(static_cast<std::size_t>(cause));
}

namespace {

// Two ranks have one role where they share at least so much of their ops (Jaccard): a rank that also writes checkpoints has few
// more.
constexpr double kSameRole = 0.8;

double shared_part(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t all = a.size() + b.size() - both.size();
  return all == 0 ? 1 : static_cast<double>(both.size()) / static_cast<double>(all);
}

class JobReader {
 public:
  JobReader(JobDatabase& database, JobFigures& figures) : database_(database), figures_(figures) {}

  void read() {
    JobAnalysis& job = figures_.job;
    job.ops = database_.names().ops;
    job.kinds = database_.names().kinds;
    job.heads = database_.heads();
    for (const auto& [number, head] : job.heads) read_rank(number, head);
    job.roles = static_cast<std::uint32_t>(role_ops_.size());
  }

 private:
  void read_rank(std::uint32_t number, const Rank& head);
  std::uint32_t role_of(const std::vector<std::uint32_t>& ops);

  JobDatabase& database_;
  JobFigures& figures_;
  std::vector<std::vector<std::uint32_t>> role_ops_;  // of the first rank of each
};

std::uint32_t JobReader::role_of(const std::vector<std::uint32_t>& ops) {
  for (std::size_t role = 0; role < role_ops_.size(); ++role) {
    if (shared_part(role_ops_[role], ops) >= kSameRole) return static_cast<std::uint32_t>(role);
  }
  role_ops_.push_back(ops);
  return static_cast<std::uint32_t>(role_ops_.size() - 1);
}

OverIterations over(const std::vector<RankIteration>& iterations) {
  Distribution lengths;
  for (const RankIteration& one : iterations) lengths.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.length_ns)));
  return {lengths.mean(), lengths.deviation()};
}

void add_means(RankRow& row, const std::vector<RankIteration>& iterations) {
  const auto n = static_cast<double>(std::max<std::size_t>(1, iterations.size()));
  for (const RankIteration& one : iterations) {
    row.gpu_ns += static_cast<double>(one.gpu_ns) / n;
    row.collective_ns += static_cast<double>(one.collective_ns) / n;
    row.exposed_ns += static_cast<double>(one.exposed_ns) / n;
    row.input_ns += static_cast<double>(one.input_ns) / n;
    row.idle_ns += static_cast<double>(one.idle_ns) / n;
  }
}

void JobReader::read_rank(std::uint32_t number, const Rank& head) {
  RankRow row;
  row.number = number;
  row.head = &head;
  const std::vector<RankIteration> iterations = database_.read_iterations(number);
  row.iterations = iterations.size();
  if (!iterations.empty()) row.first_iteration = iterations.front().iteration;
  row.waited_in_ns.resize(iterations.size());
  row.length = over(iterations);
  add_means(row, iterations);
  row.role = role_of(database_.read_ops(number));
  figures_.job.ranks.push_back(std::move(row));
}

}  // namespace

JobAnalysis analyse_job(JobDatabase& database) {
  JobFigures figures;
  JobReader(database, figures).read();
  compare_ops(database, figures);
  align_collectives(database, figures);
  find_causes(figures);
  return std::move(figures.job);
}

JobAnalysis analyse_job(const std::filesystem::path& path) {
  JobDatabase database(path);
  return analyse_job(database);
}

}  // namespace dlkprof::job
