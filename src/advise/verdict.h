// What holds an op or a kernel back, the figures that say so, and a bound on what mending it could save.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/quantities.h"
#include "model/fold/time_arithmetic.h"
#include "model/profile.h"

namespace dlkprof::advise {

// What an op or a kernel did to the GPU in the iterations aggregated, besides its counters.
struct Evidence {
  std::uint64_t timed = 0;          // launches that were timed
  std::int64_t gpu_ns = 0;          // of them
  std::uint64_t waited_for = 0;     // of them: the GPU had done all before them when they were called, and was idle for longer
                                    // than they then ran
  std::int64_t idle_before_ns = 0;  // of those: how long it was idle
  double filled_ns = 0;             // GPU time times the share of multiprocessors that the grid has a block for
  std::int64_t grid_ns = 0;         // GPU time of launches whose grid and GPU are known
  std::int64_t wall_ns = model::kMostNs;  // of the iterations aggregated: nobody can save more
  // GPU times may be so much too early beside those of the CPU, which is more than the GPU is idle in an iteration: what it
  // waited for cannot be told. 0: they are near enough.
  std::int64_t clocks_apart_ns = 0;
};

// In the order of Aggregate::ops and Aggregate::kernels.
struct EvidenceTable {
  std::vector<Evidence> ops, kernels;
};
[[nodiscard]] EvidenceTable gather_evidence(const model::Profile& profile);

enum class Verdict : std::uint8_t { unknown, launch_bound, too_small, compute_bound, memory_bound, latency_bound };

// Nsight Compute 2025.3, section GPU Speed Of Light Throughput: below 60 % of the peak in both, latencies hold a kernel back;
// from 80 % on in one, that is what there is to be had.
inline constexpr double kBoundPercent = 60;
inline constexpr double kNearPeakPercent = 80;
// A grid with blocks for fewer of the multiprocessors cannot bring their mean throughput to those 60 %.
inline constexpr double kFilledPercent = kBoundPercent;
// Ours: the launches that the GPU waited for are the rule, not the exception.
inline constexpr double kWaitedPercent = 50;
// Ours: what the GPU waits for once or twice is the program's beginning.
inline constexpr std::uint64_t kLeastWaitedFor = 3;

struct Judgement {
  Verdict verdict = Verdict::unknown;
  // At most so much of the iterations aggregated, and never more than they took, is saved where what the verdict names is mended,
  // and nothing else changes: launch-bound: the idle time before its launches; too small: the part of its GPU time that
  // multiprocessors without a block stand for; else what its measured GPU time is above that at the peak of compute or memory,
  // whichever it is nearer to.
  std::optional<std::int64_t> bound_ns;
  std::optional<double> sm_percent, memory_percent;  // of peak
  std::optional<double> filled_percent;              // multiprocessors that its grids have blocks for
  std::optional<double> waited_percent;              // launches that the GPU waited for; none where that cannot be told
  std::int64_t clocks_apart_ns = 0;                  // as Evidence has it
};
[[nodiscard]] Judgement judge(const Evidence& evidence, const model::Counters& counters);

// "launch-bound"; "" for unknown.
[[nodiscard]] const char* verdict_text(Verdict verdict);
// Why launches are not judged, in a sentence; "" where they are.
[[nodiscard]] std::string clocks_text(std::int64_t clocks_apart_ns);
// The figures behind the verdict in a sentence; of unknown only that of clocks_text().
[[nodiscard]] std::string reason_text(const Judgement& judgement);

}  // namespace dlkprof::advise
