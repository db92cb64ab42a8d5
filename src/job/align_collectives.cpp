#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "job/analysis_parts.h"
#include "job/clocks.h"
#include "job/collective_rounds.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::job {
namespace {

double length_of(const CollectiveOfRank& one) {
  return static_cast<double>(model::elapsed_ns(one.what.start_ns, one.what.end_ns));
}

using Together = std::span<const CollectiveOfRank>;  // the same collective on several ranks

CollectiveRow row_of(Together all, const JobFigures& figures) {
  const CollectiveOfRank* last = &all.front();
  double second = std::numeric_limits<double>::infinity(), sum = 0;
  for (const CollectiveOfRank& one : all) {
    sum += length_of(one);
    if (&one == last) continue;
    if (length_of(one) < length_of(*last)) {
      second = length_of(*last);
      last = &one;
    } else {
      second = std::min(second, length_of(one));
    }
  }
  const double shortest = length_of(*last);
  CollectiveRow row{last->role,
                    last->what.communicator,
                    last->what.sequence,
                    last->what.iteration,
                    last->what.kind,
                    all.size(),
                    figures.job.ranks[last->rank].number,
                    shortest,
                    0,
                    second - shortest,
                    kNone,
                    0};
  row.waited_ns = (sum - static_cast<double>(all.size()) * shortest) / static_cast<double>(all.size() - 1);
  const auto always = figures.worst_before.find({last->rank, last->what.position});
  const WorstOp worst = always == figures.worst_before.end() ? WorstOp{} : always->second;
  const auto once = static_cast<double>(last->what.late_ns);
  row.op = once > worst.excess_ns ? last->what.late_op : worst.op;
  row.op_excess_ns = std::max(once, worst.excess_ns);
  return row;
}

// How often each byte of a message crosses the bus of a GPU: nccl-tests, doc/PERFORMANCE.md. NCCL says of all-gather and
// reduce-scatter what one rank has. 0: not told of this kind.
double bus_factor(const std::string& kind, double ranks) {
  const auto is = [&kind](const char* name) { return kind.find(name) != std::string::npos; };
  if (is("AllReduce")) return 2 * (ranks - 1) / ranks;
  if (is("AllGather") || is("ReduceScatter")) return ranks - 1;
  return is("Broadcast") || is("Reduce_") ? 1 : 0;
}

// Of collectives by role and iteration.
CriticalRow critical_of(std::span<const CollectiveRow* const> all) {
  struct Late {
    double ns = 0, worst_ns = -1;
    std::uint32_t op = kNone;  // of the worst
  };
  std::map<std::uint32_t, Late> ranks;
  CriticalRow row{all.front()->role, all.front()->iteration, 0, all.size(), -1, 0, kNone};
  for (const CollectiveRow* one : all) {
    Late& late = ranks[one->last_rank];
    late.ns += one->waited_ns;
    row.all_waited_ns += one->waited_ns;
    if (one->waited_ns <= late.worst_ns) continue;
    late.worst_ns = one->waited_ns;
    late.op = one->op;
  }
  for (const auto& [rank, late] : ranks) {
    if (late.ns <= row.waited_ns) continue;
    row.critical_rank = rank;
    row.waited_ns = late.ns;
    row.op = late.op;
  }
  return row;
}

void find_critical_ranks(JobAnalysis& job) {
  std::vector<const CollectiveRow*> all;
  for (const CollectiveRow& one : job.collectives) all.push_back(&one);
  const auto key = [](const CollectiveRow* one) { return std::pair(one->role, one->iteration); };
  std::stable_sort(all.begin(), all.end(), [&key](const auto* a, const auto* b) { return key(a) < key(b); });
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    while (end < all.size() && key(all[end]) == key(all[first])) ++end;
    job.critical.push_back(critical_of(std::span(all).subspan(first, end - first)));
  }
}

// So many pairs of a rank at most, evenly spread: where there are more, every second one goes.
class ClockPairs {
 public:
  void add(const ClockPair& pair) {
    constexpr std::size_t kMost = 1024;
    if (seen_++ % stride_ != 0) return;
    pairs_.push_back(pair);
    if (pairs_.size() < kMost) return;
    for (std::size_t i = 0; 2 * i < pairs_.size(); ++i) pairs_[i] = pairs_[2 * i];
    pairs_.resize(kMost / 2);
    stride_ *= 2;
  }
  [[nodiscard]] const std::vector<ClockPair>& all() const { return pairs_; }

 private:
  std::vector<ClockPair> pairs_;
  std::uint64_t seen_ = 0, stride_ = 1;
};

class CollectiveAligner {
 public:
  explicit CollectiveAligner(JobFigures& figures) : figures_(figures), job_(figures.job) {}

  void run(JobDatabase& database) {
    CollectiveRounds rounds(database, job_.ranks);
    const auto key = [](const CollectiveOfRank& one) { return std::tuple(one.role, one.what.communicator, one.what.sequence); };
    for (std::vector<CollectiveOfRank> all; rounds.next(all);) {
      for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
        while (end < all.size() && key(all[end]) == key(all[first])) ++end;
        see(Together(all).subspan(first, end - first));
      }
    }
    const auto order = [](const CollectiveRow& row) {
      return std::tuple(-row.waited_ns, row.role, row.communicator, row.sequence);
    };
    std::sort(job_.collectives.begin(), job_.collectives.end(),
              [&order](const CollectiveRow& a, const CollectiveRow& b) { return order(a) < order(b); });
    for (auto& [size, kind] : kinds_) {
      kind.row.alone_ns /= static_cast<double>(kind.row.collectives);
      for (const RankRow& rank : job_.ranks)
        kind.row.rank_iterations += rank.role == kind.row.role ? static_cast<double>(rank.iterations) : 0;
      job_.kind_rows.push_back(kind.row);
    }
    find_critical_ranks(job_);
    fit_clocks();
  }

 private:
  struct Kind {
    CollectiveKindRow row;
    double bytes = 0, bus_bytes = 0;  // sums over collectives
  };
  using KindKey = std::tuple<std::uint32_t, std::uint32_t, int>;  // role, kind, and bits of the size; -1: not known
  void see(Together together);
  CollectiveKindRow& add_to_kind(const CollectiveRow& row, std::uint32_t bytes);
  void fit_clocks();

  JobFigures& figures_;
  JobAnalysis& job_;
  std::map<KindKey, Kind> kinds_;
  std::map<std::uint32_t, ClockPairs> pairs_;          // by rank: beside the first of its role
  std::map<std::uint32_t, std::uint32_t> references_;  // by role
};

// All ranks of a collective say the same.
CollectiveKindRow& CollectiveAligner::add_to_kind(const CollectiveRow& row, std::uint32_t bytes) {
  Kind& kind = kinds_[{row.role, row.kind, bytes == kNone ? -1 : std::bit_width(bytes)}];
  kind.row.kind = row.kind;
  kind.row.role = row.role;
  kind.row.alone_ns += row.shortest_ns;
  ++kind.row.collectives;
  if (bytes == kNone) return kind.row;
  kind.bytes += bytes;
  kind.bus_bytes += bus_factor(job_.kinds[row.kind], static_cast<double>(row.ranks)) * bytes;
  kind.row.bytes = kind.bytes / static_cast<double>(kind.row.collectives);
  if (kind.bus_bytes > 0 && kind.row.alone_ns > 0) kind.row.bus_bytes_per_s = kind.bus_bytes / kind.row.alone_ns * 1e9;
  return kind.row;
}

void CollectiveAligner::see(Together together) {
  const CollectiveOfRank& first = together.front();
  const bool alike =
      std::all_of(together.begin(), together.end(), [&](const auto& one) { return one.what.kind == first.what.kind; });
  if (together.size() < 2 || !alike) return;
  const CollectiveRow row = row_of(together, figures_);
  job_.collectives.push_back(row);
  CollectiveKindRow& kind = add_to_kind(row, first.what.bytes);
  const bool ends_at_once = job_.kinds[row.kind].find("AllReduce") != std::string::npos;
  const std::uint32_t reference = references_.try_emplace(row.role, first.rank).first->second;
  for (const CollectiveOfRank& one : together) {
    ++kind.calls;
    kind.length_ns.add(static_cast<std::uint64_t>(model::elapsed_ns(one.what.start_ns, one.what.end_ns)));
    RankRow& rank = job_.ranks[one.rank];
    const double waited = length_of(one) - row.shortest_ns;
    kind.waited_ns += waited;
    kind.exposed_ns += static_cast<double>(one.what.exposed_ns);
    rank.waited_ns += waited / static_cast<double>(std::max<std::uint64_t>(1, rank.iterations));
    const std::uint32_t place = one.what.iteration - rank.first_iteration;  // of hostile files anything
    if (place < rank.waited_in_ns.size()) rank.waited_in_ns[place] += static_cast<float>(waited);
    if (ends_at_once && first.rank == reference) pairs_[one.rank].add({first.what.end_ns, one.what.end_ns});
  }
}

void CollectiveAligner::fit_clocks() {
  for (const auto& [rank, pairs] : pairs_) {
    const std::optional<ClockFit> fit = fit_clock(pairs.all());
    if (!fit) continue;
    RankRow& row = job_.ranks[rank];
    row.clock_offset_ns = fit->offset_ns;
    row.clock_drift_ppm = fit->drift_ppm;
    row.clock_middle_ns = fit->middle_ns;
    row.clock_error_ns = fit->error_ns;
    row.clock_drift_error_ppm = fit->drift_error_ppm;
  }
}

}  // namespace

void align_collectives(JobDatabase& database, JobFigures& figures) { CollectiveAligner(figures).run(database); }

}  // namespace dlkprof::job
