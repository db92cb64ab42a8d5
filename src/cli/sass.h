// SASS for reports of source lines.
#pragma once

#include <string>
#include <vector>

#include "model/sass/sass.h"
#include "model/timeline/timeline.h"

namespace dlkprof::cli {

// Of the sampled kernels, where `source` is one of the reports; else nothing is run and nothing known. Says on stderr what is
// missing and what to do about it.
[[nodiscard]] model::Sass sass_for(const std::vector<std::string>& reports, const model::Timeline& timeline);

}  // namespace dlkprof::cli
