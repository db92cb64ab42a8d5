// What the kernels wait for that PC sampling found most, for the end of a profile.
#pragma once

#include <cstddef>
#include <string>

#include "report/ops/fields.h"

namespace dlkprof::report {

// A table of at most `most` rows, ends with a newline; empty where nothing was sampled.
[[nodiscard]] std::string top_stalls(const Model& model, std::size_t most = 5);

}  // namespace dlkprof::report
