// What the ranks of a job tell when they are compared: within a role, as only ranks that do the same are comparable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/database.h"

namespace dlkprof::job {

// A figure of a rank over its iterations. Times in ns.
struct OverIterations {
  double mean = 0, deviation = 0;
};

struct RankRow {
  std::uint32_t number = 0, role = 0;
  const Rank* head = nullptr;
  std::uint64_t iterations = 0;
  OverIterations length;                                            // of an iteration
  double gpu_ns = 0, collective_ns = 0, exposed_ns = 0;             // means an iteration
  double input_ns = 0, idle_ns = 0, waited_ns = 0, compute_ns = 0;  // waited: in collectives, for others
  double instructions = 0, dram_bytes = 0;                          // an iteration, of the ops that were measured; 0: none
  bool slow = false;                                                // an outlier by compute_ns
  std::optional<double> clock_offset_ns, clock_drift_ppm, clock_error_ns, clock_drift_error_ppm;
  double clock_middle_ns = 0;         // when it was off by clock_offset_ns, by the clock of the first rank of its role
  std::uint32_t first_iteration = 0;  // number in the rank's capture
  std::vector<float> waited_in_ns;    // by iteration, from first_iteration on: in collectives, for others
};

enum class Cause : std::uint8_t { none, same_work_slower, more_work, not_measured };
[[nodiscard]] const char* cause_text(Cause cause);

// An op over the ranks of a role that have it.
struct OpSpread {
  std::uint32_t op = 0, role = 0;
  std::size_t ranks = 0;
  double least = 0, p5 = 0, median = 0, p95 = 0, most = 0;  // of the ranks' means: GPU time an iteration
  std::uint32_t rank_of_most = 0;
  double within = 0, between = 0;  // standard deviations: over iterations (pooled), and of the ranks' means
  Cause cause = Cause::none;       // why the most is an outlier; none: it is not
};

// A collective on all ranks of a role.
struct CollectiveRow {
  std::uint32_t role = 0, communicator = 0, sequence = 0, iteration = 0, kind = 0;
  std::size_t ranks = 0;
  std::uint32_t last_rank = 0;
  double shortest_ns = 0;    // on the last rank: of communication alone
  double waited_ns = 0;      // mean over the others
  double late_ns = 0;        // that the last rank came after the one before it
  std::uint32_t op = kNone;  // what made it late; kNone: not known
  double op_excess_ns = 0;
};

// The collectives of an iteration of a role.
struct CriticalRow {
  std::uint32_t role = 0, iteration = 0;
  std::uint32_t critical_rank = 0;  // others waited longest for it
  std::uint64_t collectives = 0;
  double waited_ns = 0;      // for that rank: sum over the collectives to which it came last, mean over the others
  double all_waited_ns = 0;  // for whomever
  std::uint32_t op = kNone;  // what made it late, where others waited longest; kNone: not known
};

// Collectives of a kind, and of a size where it is known: from a power of two to the next. Sums over ranks are of all their
// iterations.
struct CollectiveKindRow {
  std::uint32_t kind = 0, role = 0;
  std::optional<double> bytes;            // of a message, mean
  std::optional<double> bus_bytes_per_s;  // as nccl-tests counts it (doc/PERFORMANCE.md), of communication alone
  std::uint64_t collectives = 0;          // each counts once, on however many ranks
  std::uint64_t calls = 0;                // of all ranks
  Distribution length_ns;                 // of all ranks
  double alone_ns = 0;                    // mean of the shortest over ranks
  double exposed_ns = 0, waited_ns = 0;   // sums over ranks: nothing but collectives ran; they waited for others
  double rank_iterations = 0;             // sum over ranks of the role: of their iterations
};

struct JobFinding {
  std::string rule, headline, advice;
  std::optional<std::uint32_t> rank;
  std::string op;      // empty: none
  double lost_ns = 0;  // of an iteration
};

struct JobAnalysis {
  std::vector<OpName> ops;
  std::vector<std::string> kinds;
  std::map<std::uint32_t, Rank> heads;
  std::uint32_t roles = 0;
  std::vector<RankRow> ranks;              // by number
  std::vector<OpSpread> spreads;           // by the time that the most exceeds the median, falling
  std::vector<CollectiveRow> collectives;  // by waited time, falling
  std::vector<CriticalRow> critical;       // by role and iteration
  std::vector<CollectiveKindRow> kind_rows;
  std::vector<JobFinding> findings;  // by lost time, falling
};

// Reads a part of the job at a time. Throws Error as JobDatabase does.
[[nodiscard]] JobAnalysis analyse_job(JobDatabase& database);
[[nodiscard]] JobAnalysis analyse_job(const std::filesystem::path& path);

// Middle and spread that a few wild values do not move.
struct Robust {
  double median = 0, mad = 0;  // median of the distances from the median
};
[[nodiscard]] Robust robust(std::vector<double> values);
// Above the median by more than 3 deviations of normally distributed values (MAD · 1.4826; Leys et al., J. Exp. Soc. Psychol. 49,
// 2013), and by more than `least`, so that values that hardly differ have no outliers.
[[nodiscard]] bool is_outlier(double value, const Robust& all, double least);

// Nearest rank, of values that are sorted.
[[nodiscard]] double quantile_of(std::span<const double> sorted, double share);

}  // namespace dlkprof::job
