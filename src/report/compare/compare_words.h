// How comparisons put figures, runs and ops into words.
#pragma once

#include <cstddef>
#include <string>

#include "advise/compare/compare_runs.h"

namespace dlkprof::report {

inline constexpr std::size_t kWordsWidth = 120;  // of a name within a sentence

// "0.31x", "12.5x", "128x".
[[nodiscard]] std::string times_text(double ratio);
// "12.3 %".
[[nodiscard]] std::string share_text_of(double share);
// "1.23 ms"
[[nodiscard]] std::string time_text_of(double ns);

// All printable.
[[nodiscard]] std::string run_label(const advise::RunFigures& run);
// "aten::mm (bprop) of /net/fc".
[[nodiscard]] std::string op_words(const advise::OpFigures& op);
// " at 128x the samples"; empty where batch sizes are the same, or not known.
[[nodiscard]] std::string at_samples(const advise::Comparison& comparison);

}  // namespace dlkprof::report
