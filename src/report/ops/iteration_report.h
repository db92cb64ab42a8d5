// The report `iteration`: a row a kernel call, copy or set, in the order in which GPUs did them (guide, 10.4), then what was
// measured of its launch configuration. Times are those of the timeline: CLOCK_MONOTONIC, as in the database and the capture.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// Parameters and Output Shapes are empty: no framework's markers say them.
[[nodiscard]] Rows iteration_report(const Model& model);

}  // namespace dlkprof::report
