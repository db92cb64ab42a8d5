// What a comparison found, in words: each sentence says a figure of both runs, and where it is known, why.
#pragma once

#include <string>
#include <vector>

#include "advise/compare/compare_runs.h"

namespace dlkprof::report {

// Printable, without line breaks. What stands in the way of comparing comes first.
[[nodiscard]] std::vector<std::string> compare_sentences(const advise::Comparison& comparison);

// The part of them that is about ops.
[[nodiscard]] std::vector<std::string> compare_op_sentences(const advise::Comparison& comparison);

}  // namespace dlkprof::report
