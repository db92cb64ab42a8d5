// What a comparison found, in words: each sentence says a figure of both runs, and where it is known, why.
#pragma once

#include <string>
#include <vector>

#include "advise/compare_runs.h"

namespace dlkprof::report {

// Printable, without line breaks. What stands in the way of comparing comes first.
[[nodiscard]] std::vector<std::string> compare_sentences(const advise::Comparison& comparison);

// "0.31x", "12.5x", "128x".
[[nodiscard]] std::string times_text(double ratio);
// "12.3 %".
[[nodiscard]] std::string share_text_of(double share);
// "1.23 ms"
[[nodiscard]] std::string time_text_of(double ns);

}  // namespace dlkprof::report
