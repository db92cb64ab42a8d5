// The operations that take most GPU time, for the end of a profile.
#pragma once

#include <cstddef>
#include <string>

#include "report/ops/fields.h"

namespace dlkprof::report {

inline constexpr std::size_t kTopOps = 10;

// A table of at most `most` rows, ends with a newline; empty where there are no ops.
[[nodiscard]] std::string top_ops(const model::Profile& profile, std::size_t most = kTopOps);

}  // namespace dlkprof::report
