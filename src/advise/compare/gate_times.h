// Times of two runs for a gate. The iterations of a run tell how much they spread within it, and not how far two runs of one
// program lie apart; so a time may grow by that, too, before it breaks a rule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/run_figures.h"

namespace dlkprof::advise {

// How far GPU times of two runs of one program lie apart: by this share, and for each launch by so many ns, which add up as
// independent errors do (by the root of the launches). Between recordings of one program on an H200 no op differed by more, most
// by far less (tests/e2e/read/test_gate.py holds that of all pairs that the repository has).
inline constexpr double kRunsDifferShare = 0.01;
inline constexpr double kRunsDifferNs = 1200;

// From this share of an iteration on that a GPU is at work, calls wait for it, and tell nothing of the CPU.
inline constexpr double kGpuBound = 0.9;

// How much longer the CPU took in the other run for the same calls that launch: 1.1 is 10 % longer. It tells a slower or busier
// machine from a program that does more. Absent where the runs have no such calls in common, or the GPU holds them up. Calls that
// launch a graph are alike only where graphs launch as many kernels.
[[nodiscard]] std::optional<double> cpu_ratio(const RunFigures& base, const RunFigures& other);

// A time of the iterations of both runs, in ns; of GPU times, those iterations in which every launch has one.
struct TimePair {
  std::string what;  // it is called in messages
  std::vector<double> base, other;
  Spread base_spread, other_spread;
  double factor = 1;                  // that it may grow by between two runs of one program,
  double extra_ns = 0;                // and that may be added
  std::string because;                // says so in words; empty: nothing
  const char* values = "iterations";  // what the times are of
  // What the rank test says: of the two as they are, and of what may be against what was found, which is small where it grew by
  // more. Absent where there are too few iterations.
  std::optional<double> p_differ, p_beyond;
};
[[nodiscard]] TimePair iteration_pair(const RunFigures& base, const RunFigures& other);
[[nodiscard]] TimePair gpu_pair(const RunFigures& base, const RunFigures& other);
// Of each kind of iterations that both runs have, where a run has several: lengths, or GPU times.
[[nodiscard]] std::vector<TimePair> kind_pairs(const RunFigures& base, const RunFigures& other, bool of_gpu);
[[nodiscard]] TimePair gpu_pair(const OpFigures& base, const OpFigures& other, std::string what);

// The most that a rule and two runs of one program allow, of a time of the base.
[[nodiscard]] inline double allowed_ns(const TimePair& pair, double base_ns, double most_percent) {
  return base_ns * (1 + most_percent / 100) * pair.factor + pair.extra_ns;
}

// Fills in the ps; the more pairs there are, the more of them look slower by chance.
void test_times(std::vector<TimePair>& pairs, double most_percent);

}  // namespace dlkprof::advise
