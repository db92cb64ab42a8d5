// Iterations that do different work, told apart: the prefill and the decode steps of a generating loop, training steps and
// validation. By what they launch, not by what anything is called.
//
// Whole iterations are grouped one after another, those first whose exact launches are most frequent, each with the first group
// that it is like:
//  - Two iterations are alike where the weighted Jaccard similarity of their launches is at least kAlike: of each kernel, copy or
//    set the smaller number of launches, summed, over the same sum of the larger numbers. A kernel whose mean grid differs by
//    more than kGridTimes does not count as the same.
//  - Where the shapes of embeddings show a generating loop (token_lengths.h), all iterations with one token a sequence are one
//    group, and all with more tokens are another: prompts of different lengths launch different kernels.
// Other groups count as kinds only where the loop comes back to them, in at least kLeastStretches stretches: warm-up, or what is
// done once in the end, is for the steady range to find. What is no kind by itself joins the kind that it is most like.
//
// Jaccard: P. Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11(2), 1912; weighted: S. Ioffe,
// "Improved consistent sampling, weighted minhash and L1 sketching", ICDM 2010. The thresholds are ours: in a recording of a
// Llama that generates on an H200 decode steps have 0.96 and more in common, prefill and decode 0.53. 2/3 is where one launch in
// five is of another kernel. Lengths that grow change few kernels and few grids by more than kGridTimes, since most work of a
// decode step is that of one token.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fold/fold.h"
#include "model/fold/token_lengths.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

inline constexpr double kAlike = 2.0 / 3;
inline constexpr double kGridTimes = 8;
inline constexpr std::size_t kLeastStretches = 2;
// That are looked for: so that all iterations take linear time together, however many differ.
inline constexpr std::size_t kMostKinds = 8;

// Sets Fold::kinds and Iteration::kind of whole iterations, which are all but the first and the last. `token_uses`: of each
// range, or empty. Neither is set where all whole iterations are of one kind.
void find_iteration_kinds(const Timeline& timeline, const std::vector<TokenUse>& token_uses, Fold& fold);

}  // namespace dlkprof::model
