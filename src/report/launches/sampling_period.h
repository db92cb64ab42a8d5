// The period of PC sampling, for columns that say how figures came about.
#pragma once

#include "model/timeline/pc_samples.h"
#include "report/format/table.h"

namespace dlkprof::report {

// In cycles: a number, or "131072 to 524288" where it was lengthened on the way; empty where nothing was sampled.
[[nodiscard]] Cell sampling_period(const model::PcSamples& samples);

}  // namespace dlkprof::report
