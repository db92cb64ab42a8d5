// model::Stats in words, where a test fails.
#pragma once

#include <ostream>

#include "model/aggregate/aggregate.h"

namespace dlkprof::model {

// GoogleTest looks for it under this name.
inline void PrintTo(const Stats& stats, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << "n " << stats.n << ", total " << stats.total << ", least " << stats.least << ", most " << stats.most;
}

}  // namespace dlkprof::model
