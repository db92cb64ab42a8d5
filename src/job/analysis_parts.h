// The steps of analyse_job().
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "job/analysis.h"

namespace dlkprof::job {

// What says how much an op does, whatever the clock: instructions, and bytes to and from memory.
inline constexpr std::array<std::string_view, 4> kWorkMetrics{"smsp__inst_executed.sum", "sm__inst_executed.sum",
                                                              "dram__bytes.sum", "lts__t_bytes.sum"};
using Work = std::array<float, kWorkMetrics.size()>;  // 0: not measured

struct OpOfRank {
  std::uint32_t rank = 0, segment = 0;  // rank: index into JobAnalysis::ranks
  double gpu_ns = 0, wait_ns = 0;       // means per iteration
  double deviation_ns = 0;              // of gpu_ns over iterations
  double launches = 0;                  // per iteration
  Work work{};
};

struct CollectiveOfRank {
  std::uint32_t rank = 0, role = 0;  // rank: index into JobAnalysis::ranks
  RankCollective what;
};

// The op of a rank that exceeds the median of the ranks of the role by most.
struct WorstOp {
  std::uint32_t op = kNone;
  double excess_ns = 0;
  Cause cause = Cause::not_measured;
};

struct JobFigures {
  JobAnalysis job;
  std::vector<WorstOp> worst_gpu, worst_wait;  // by rank: by GPU time, and by the idle time before the op
  // By rank and segment: by both together.
  std::map<std::pair<std::uint32_t, std::uint32_t>, WorstOp> worst_before;
};

// An outlier differs from the median by at least this part, so that ranks that hardly differ have none.
inline constexpr double kLeastExcess = 0.05;

void compare_ops(JobDatabase& database, JobFigures& figures);        // spreads, compute_ns, worst ops
void align_collectives(JobDatabase& database, JobFigures& figures);  // collectives, kind_rows, clocks, what ranks waited
void find_causes(JobFigures& figures);                               // findings

// Why `most` takes longer than the others do: by the work of both.
[[nodiscard]] Cause cause_of(const Work& most, const Work& median, double excess);
[[nodiscard]] Work median_work(const std::vector<const OpOfRank*>& all);

}  // namespace dlkprof::job
