// Rules over ranks. Where a threshold is not said to come from elsewhere it is ours: what is below it costs less than it takes to
// look after.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "job/analysis_parts.h"

namespace dlkprof::job {
namespace {

constexpr double kMostExposed = 0.10;   // of an iteration
constexpr double kUnevenStages = 0.20;  // that the slowest stage takes longer than the mean: a pipeline runs at its pace
constexpr double kSlowClock = 0.03;     // below the median
// Of an iteration: kernels that run beside a collective that waits are slower by some per cent, as it holds multiprocessors (seen
// with NCCL on two H100s, where the others waited for a late rank).
constexpr double kLeastLost = 0.01;

class CauseFinder {
 public:
  explicit CauseFinder(JobFigures& figures) : figures_(figures), job_(figures.job) {}

  void run() {
    for (std::uint32_t role = 0; role < job_.roles; ++role) {
      role_.clear();
      for (RankRow& rank : job_.ranks) {
        if (rank.role == role) role_.push_back(&rank);
      }
      if (role_.size() < kFewest) continue;
      length_ = median_of([](const RankRow& rank) { return rank.length.mean; }).median;
      slow_ranks();
      input();
      stragglers();
      exposed();
    }
    stages();
    std::stable_sort(job_.findings.begin(), job_.findings.end(),
                     [](const JobFinding& a, const JobFinding& b) { return a.lost_ns > b.lost_ns; });
  }

 private:
  static constexpr std::size_t kFewest = 2;  // ranks that can be compared

  template <typename Figure>
  [[nodiscard]] Robust median_of(Figure figure) const {
    std::vector<double> values;
    for (const RankRow* rank : role_) values.push_back(figure(*rank));
    return robust(std::move(values));
  }
  [[nodiscard]] std::string op_name(std::uint32_t op) const { return op == kNone ? "" : job_.ops[op].name; }
  [[nodiscard]] std::uint32_t place(const RankRow& rank) const { return static_cast<std::uint32_t>(&rank - job_.ranks.data()); }
  [[nodiscard]] bool is_known(std::uint32_t rank) const {
    return std::any_of(job_.findings.begin(), job_.findings.end(), [rank](const auto& one) { return one.rank == rank; });
  }
  void slow_ranks();
  void add_slow(const RankRow& rank, const Robust& all);
  [[nodiscard]] std::set<std::string> slow_hosts() const;
  void input();
  void stragglers();
  void exposed();
  void stages();

  JobFigures& figures_;
  JobAnalysis& job_;
  std::vector<RankRow*> role_;  // its ranks
  double length_ = 0;           // of an iteration, the median
};

// Hosts with several ranks, all of which are slow, in a job that has ranks elsewhere that are not.
std::set<std::string> CauseFinder::slow_hosts() const {
  std::map<std::string, std::pair<std::size_t, std::size_t>> hosts;  // slow, all
  for (const RankRow* rank : role_) {
    auto& [slow, all] = hosts[rank->head->identity.host];
    slow += rank->slow ? 1 : 0;
    ++all;
  }
  std::set<std::string> found;
  for (const auto& [host, counts] : hosts) {
    if (counts.second > 1 && counts.first == counts.second && hosts.size() > 1) found.insert(host);
  }
  return found;
}

void CauseFinder::add_slow(const RankRow& rank, const Robust& all) {
  const WorstOp& worst = figures_.worst_gpu[place(rank)];
  const double excess = rank.compute_ns - all.median;
  const double percent = 100 * excess / all.median;
  JobFinding finding;
  finding.rank = rank.number;
  finding.op = op_name(worst.op);
  finding.lost_ns = excess;
  if (worst.cause == Cause::more_work) {
    finding.rule = "uneven_shards";
    finding.headline = fmt::format(
        "Rank {} has more work than the others: its kernels take {:.3g} % longer, most of it in {}, which "
        "executes more instructions or moves more bytes there.",
        rank.number, percent, finding.op);
    finding.advice = "Give each rank as much: drop_last or a distributed sampler for data, an even split for layers and experts.";
  } else {
    const double clock = median_of([](const RankRow& one) { return one.head->clock_hz; }).median;
    const double own = rank.head->clock_hz;
    const bool slow_clock = own > 0 && own < (1 - kSlowClock) * clock;
    finding.rule = "slow_gpu";
    finding.headline =
        fmt::format("Rank {} is slow: its kernels take {:.3g} % longer, most of it in {} ({}{}).", rank.number, percent,
                    finding.op, cause_text(worst.cause),
                    slow_clock ? fmt::format("; its clock is {:.0f} MHz, the median {:.0f} MHz", own / 1e6, clock / 1e6) : "");
    finding.advice = fmt::format(
        "Look at GPU {} of {}: clocks, temperature, power cap, other programs (nvidia-smi -q -d "
        "PERFORMANCE,CLOCK).",
        rank.head->pci_bus_id, rank.head->identity.host);
  }
  job_.findings.push_back(std::move(finding));
}

void CauseFinder::slow_ranks() {
  const Robust all = median_of([](const RankRow& rank) { return rank.compute_ns; });
  const double least = std::max(kLeastExcess * all.median, kLeastLost * length_);
  for (RankRow* rank : role_) rank->slow = is_outlier(rank->compute_ns, all, least);
  const std::set<std::string> hosts = slow_hosts();
  for (const std::string& host : hosts) {
    JobFinding finding{"slow_host", "", "Look at the host: power, cooling, clocks of all its GPUs, other programs.", {}, "", 0};
    std::string numbers;
    for (const RankRow* rank : role_) {
      if (rank->head->identity.host != host) continue;
      numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", rank->number);
      if (!finding.rank) finding.op = op_name(figures_.worst_gpu[place(*rank)].op);
      if (!finding.rank) finding.rank = rank->number;
      finding.lost_ns = std::max(finding.lost_ns, rank->compute_ns - all.median);
    }
    finding.headline = fmt::format("All ranks on {} are slow ({}): up to {:.3g} % longer, most of it in {}.", host, numbers,
                                   100 * finding.lost_ns / all.median, finding.op);
    job_.findings.push_back(std::move(finding));
  }
  for (const RankRow* rank : role_) {
    if (rank->slow && !hosts.contains(rank->head->identity.host)) add_slow(*rank, all);
  }
}

void CauseFinder::input() {
  const Robust all = median_of([](const RankRow& rank) { return rank.input_ns; });
  for (const RankRow* rank : role_) {
    if (!is_outlier(rank->input_ns, all, kLeastExcess * length_)) continue;
    const WorstOp& worst = figures_.worst_wait[place(*rank)];
    const double excess = rank->input_ns - all.median;
    job_.findings.push_back(
        {"late_input",
         fmt::format("The GPU of rank {} waits {:.3g} % of an iteration before its first work, {}: its input comes late.",
                     rank->number, 100 * excess / length_, op_name(worst.op)),
         "Look at this rank's data loading: workers, storage, the size of its samples.", rank->number, op_name(worst.op),
         excess});
  }
}

// Ranks that others wait for in collectives, for another reason than those above.
void CauseFinder::stragglers() {
  struct Late {
    double ns = 0;
    std::uint64_t collectives = 0;
    std::map<std::uint32_t, double> ops;
  };
  std::map<std::uint32_t, Late> late;  // by rank
  const std::uint32_t role = role_.front()->role;
  for (const CollectiveRow& row : job_.collectives) {
    if (row.role != role || row.ranks < kFewest) continue;
    Late& one = late[row.last_rank];
    one.ns += row.late_ns;
    ++one.collectives;
    if (row.op != kNone) one.ops[row.op] += row.late_ns;
  }
  for (const RankRow* rank : role_) {
    const auto found = late.find(rank->number);
    if (found == late.end() || rank->iterations == 0 || is_known(rank->number)) continue;
    const double lost = found->second.ns / static_cast<double>(rank->iterations);
    if (lost < kLeastExcess * length_) continue;
    const auto& ops = found->second.ops;
    const auto worst = std::max_element(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string op = worst == ops.end() ? "" : op_name(worst->first);
    job_.findings.push_back(
        {"straggler",
         fmt::format("All ranks wait for rank {}, {:.3g} % of an iteration: it comes last to {} collectives, made "
                     "late by {}.",
                     rank->number, 100 * lost / length_, found->second.collectives, op.empty() ? "what was not recorded" : op),
         "Look at what this op does on that rank and not on others: report stragglers has each collective.", rank->number, op,
         lost});
  }
}

// What even the rank that waits least has: the time of communication itself.
void CauseFinder::exposed() {
  double least = std::numeric_limits<double>::infinity();
  for (const RankRow* rank : role_) least = std::min(least, std::max(0.0, rank->exposed_ns - rank->waited_ns));
  if (length_ <= 0 || least < kMostExposed * length_) return;
  job_.findings.push_back(
      {"exposed_communication",
       fmt::format("On every rank collectives alone run for at least {:.3g} % of an iteration, waits for late ranks "
                   "not counted.",
                   100 * least / length_),
       "Start them earlier beside computation: smaller buckets, prefetch, larger batches.",
       {},
       "",
       least});
}

void CauseFinder::stages() {
  std::vector<double> sums(job_.roles), counts(job_.roles);
  for (const RankRow& rank : job_.ranks) {
    sums[rank.role] += rank.compute_ns;
    ++counts[rank.role];
  }
  if (job_.roles < 2) return;
  double mean = 0;
  std::size_t slowest = 0;
  for (std::size_t role = 0; role < sums.size(); ++role) {
    sums[role] /= counts[role];
    mean += sums[role] / static_cast<double>(sums.size());
    if (sums[role] > sums[slowest]) slowest = role;
  }
  if (mean <= 0 || sums[slowest] < (1 + kUnevenStages) * mean) return;
  const auto first =
      std::find_if(job_.ranks.begin(), job_.ranks.end(), [slowest](const auto& one) { return one.role == slowest; });
  job_.findings.push_back(
      {"uneven_stages",
       fmt::format("Role {} (rank {} and {:.0f} more) computes {:.3g} % longer than the mean of the {} roles.", slowest,
                   first->number, counts[slowest] - 1, 100 * (sums[slowest] / mean - 1), job_.roles),
       "If roles are stages of a pipeline, move layers to the others.", first->number, "", sums[slowest] - mean});
}

}  // namespace

void find_causes(JobFigures& figures) { CauseFinder(figures).run(); }

}  // namespace dlkprof::job
