// SASS for what shows where in the code warps wait.
#pragma once

#include <string>
#include <vector>

#include "model/sass/sass.h"
#include "model/timeline/timeline.h"

namespace dlkprof::cli {

// Of the sampled kernels. Says on stderr what is missing and what to do about it.
[[nodiscard]] model::Sass sass_of(const model::Timeline& timeline);
// The same where `source` is one of the reports; else nothing is run and nothing known.
[[nodiscard]] model::Sass sass_for(const std::vector<std::string>& reports, const model::Timeline& timeline);

}  // namespace dlkprof::cli
