// Two or more jobs side by side: which ops, collectives and ranks take longer than in the first.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/compare/compare_runs.h"
#include "job/analysis_parts.h"

namespace dlkprof::job {

// Collectives of a kind and a size, over all roles. Means per collective.
struct CollectiveFigures {
  std::uint64_t collectives = 0;
  double alone_ns = 0, waited_ns = 0;            // of communication alone; of all ranks together, for others
  std::optional<double> bytes, bus_bytes_per_s;  // as in CollectiveKindRow
};
using CollectiveKey = std::pair<std::string, int>;  // kind, bits of the size; -1: not known

struct ComparedJob {
  std::string label;
  JobAnalysis job;
  // As of a run: iterations are means over ranks, and an op has a value per rank in place of one per iteration.
  advise::RunFigures figures;
  std::vector<Work> work;  // by op of figures: median over ranks
  std::map<CollectiveKey, CollectiveFigures> collectives;
};

// A rank of both jobs.
struct RankChange {
  const RankRow *base = nullptr, *other = nullptr;
  double base_own_ns = 0, own_ns = 0;  // an iteration without waiting for others, mean
  double excess_ns = 0;                // that the rank's own time grew by beyond the median over ranks
  std::string base_rule, rule;         // the finding about it; empty: none
  std::string op;                      // that grew by most beyond the median over ranks; empty: none did
  double op_excess_ns = 0;
  Cause cause = Cause::none;  // of the op
  [[nodiscard]] bool became_slow() const { return base_rule.empty() && !rule.empty(); }
  [[nodiscard]] bool recovered() const { return !base_rule.empty() && rule.empty(); }
};

struct JobComparison {
  const ComparedJob *base = nullptr, *other = nullptr;
  advise::Comparison figures;                        // ops that differ by no more than two runs of one program do have no verdict
  std::vector<RankChange> ranks;                     // by what they grew beyond the others, falling
  std::vector<std::uint32_t> only_base, only_other;  // numbers of ranks
  // Why the other job takes longer for an op, by the work of both.
  [[nodiscard]] Cause cause_of_op(const advise::OpPair& pair) const;
};

// Collectives of either job; null: the job has none of the kind and size.
struct CollectivePair {
  CollectiveKey key;
  const CollectiveFigures *base = nullptr, *other = nullptr;
};
[[nodiscard]] std::vector<CollectivePair> collective_pairs(const JobComparison& comparison);

// Comparisons point into `jobs`.
struct ComparedJobs {
  std::vector<ComparedJob> jobs;
  std::vector<JobComparison> pairs;  // each beside the first
};

struct LabelledJob {
  std::string label;
  std::filesystem::path path;
};

// Counters are read for a gate alone. Throws Error as JobDatabase does.
[[nodiscard]] ComparedJobs compare_jobs(const std::vector<LabelledJob>& jobs, bool with_counters);

// How far the times of an op of two runs of one program lie apart (advise/compare/gate_times.h).
[[nodiscard]] bool is_beyond_runs(const advise::OpPair& pair);

// The steps of compare_jobs().
[[nodiscard]] advise::RunFigures figures_of_job(JobDatabase& database, const JobAnalysis& job, std::vector<Work>& work,
                                                bool with_counters);
[[nodiscard]] std::vector<RankChange> compare_ranks(const JobAnalysis& base_job, JobDatabase& base, const JobAnalysis& other_job,
                                                    JobDatabase& other);

}  // namespace dlkprof::job
