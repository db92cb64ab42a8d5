// The iterations that figures are of unless others are asked for: the loop in its steady state.
//
// Iteration 0 is all that comes before the key node first ends, and the last iteration is all that comes after it last does:
// neither is a whole step (guide, chapter 7), so neither is ever part of the range. Of the iterations between them, those at the
// beginning that are not like the rest are warm-up, and those at the end that are not do not belong to the loop.
//
// Nor are those that lack GPU times since their process was killed (lost_times.h).
//
// The rule, on the lengths of the whole iterations in their order:
//  1. Lengths beyond Tukey's inner fences (1.5 interquartile ranges beyond the quartiles) are set to the fence, so that a single
//     checkpoint, validation or pause neither is a warm-up nor hides one.
//  2. MSER (marginal standard error rule) proposes where the steady state begins: at the truncation, of at most the first half,
//     that gives the mean of the rest the smallest standard error.
//  3. Of what is proposed, the longest part is cut that ends with an iteration beyond the outer fences (3 interquartile ranges)
//     of the iterations after the proposal, and in which most iterations are beyond them. So noise is never cut.
//  4. The same once more from the end.
// Where iterations are of several kinds (iteration_kinds.h), lengths are parts of the median length of their kind.
// Fences are at least 10 % of the median away from the quartiles: such differences are "little time variation" (guide, 12.4).
//
// MSER: K. P. White Jr., "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997.
// Fences: J. W. Tukey, "Exploratory Data Analysis", 1977. The limits of a half and of 10 % and the "most" in step 3 are ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/fold/fold.h"

namespace dlkprof::model {

// For reports.
inline constexpr const char* kSteadyRangeRule = "MSER (White 1997) within Tukey's fences (1977), on iteration lengths";

// Fewer say nothing of what is usual.
inline constexpr std::size_t kLeastIterationsForRule = 3;
// Lengths that are no further apart, in % of the median, do not differ.
inline constexpr double kLittleVariation = 10;

struct SteadyRange {
  std::uint32_t first = 0, last = 0;  // inclusive
  bool found = false;                 // false: there is no whole iteration, and the range is everything
  std::string_view note;              // why the rule had nothing to go by; "" where it did
  friend bool operator==(const SteadyRange&, const SteadyRange&) = default;
};

// Never empty.
[[nodiscard]] SteadyRange find_steady_range(const Fold& fold);

// The rule itself: of at least one length, the steady ones.
struct SteadyPart {
  std::size_t first = 0, count = 0;
  friend bool operator==(const SteadyPart&, const SteadyPart&) = default;
};
[[nodiscard]] SteadyPart steady_part(std::span<const double> lengths);

}  // namespace dlkprof::model
