// Runs side by side: which ops are the same, how their times differ, and whether that is more than noise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/run_figures.h"

namespace dlkprof::advise {

// What the rank test says of the times of two runs.
enum class ChangeVerdict : std::uint8_t {
  untested,   // too few iterations
  no_change,  // the spread of the iterations explains the difference
  faster,     // the other run takes less time an iteration
  slower,
};

// How the time of an op goes with the batch size, by the exponent e in time ~ batch^e.
enum class Scaling : std::uint8_t {
  unknown,      // a batch size is not known, or both are the same
  fixed,        // time an iteration is flat: a cost that larger batches spread over more samples
  sublinear,    // between the two
  linear,       // time a sample is flat
  superlinear,  // time a sample grows
};

// p below which a difference counts for a change: one in a hundred comparisons of all ops of two runs that do not differ calls
// any op changed.
inline constexpr double kSignificance = 0.01;
// How far the exponent may be from 0 or 1 for a time to count as flat: a doubling of the batch then changes it by at most 7 %
// (2^0.1). An exponent, and not a ratio, so that the threshold means the same at 2 and at 128 times the batch.
inline constexpr double kFlatExponent = 0.1;

// From base to other, of times an iteration.
struct Change {
  double base_ns = 0, other_ns = 0;  // medians
  std::optional<double> ratio;       // other over base
  std::optional<double> p;           // of the rank test, corrected for the number of ops
  ChangeVerdict verdict = ChangeVerdict::untested;
};

// An op of both runs; or of one, and then the other is null. Points into the figures compared.
struct OpPair {
  const OpFigures* base = nullptr;
  const OpFigures* other = nullptr;
  Change change;                   // of ops of both
  std::optional<double> exponent;  // of the batch size
  Scaling scaling = Scaling::unknown;
  bool same_kernels = false;  // by their long names

  [[nodiscard]] const OpFigures& either() const { return base != nullptr ? *base : *other; }
};

// Iterations of a kind that both runs have, by its name.
struct KindPair {
  std::string name;
  Change iteration, gpu;
};

struct Comparison {
  const RunFigures* base = nullptr;
  const RunFigures* other = nullptr;
  std::optional<double> batch_ratio;  // other over base
  Change iteration, gpu;
  std::vector<KindPair> kinds;  // where a run has several
  [[nodiscard]] bool is_mixed() const { return !base->kinds.empty() || !other->kinds.empty(); }
  std::optional<double> iteration_exponent;
  // Those that launch something in at least half of the iterations of a run, by their time in the slower run, falling.
  std::vector<OpPair> ops;
  std::size_t rare = 0;  // others, of either run
};

// The figures outlive what is returned.
[[nodiscard]] Comparison compare(const RunFigures& base, const RunFigures& other);

// Each run beside the first. Comparisons point into `runs`.
struct ComparedRuns {
  std::vector<RunFigures> runs;
  std::vector<Comparison> pairs;
};
[[nodiscard]] ComparedRuns compare_all(std::vector<RunFigures> runs);

[[nodiscard]] Scaling scaling_of(const std::optional<double>& exponent);

// Labels so that no two are the same: further ones of a name get " (2)" and so on.
[[nodiscard]] std::vector<std::string> unique_labels(std::vector<std::string> labels);

}  // namespace dlkprof::advise
