// The reports of replay mode sample: `sampling`, a metric of an op or kernel with how sure it is, and `utilization`, what GPUs
// did over time.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// Each op that has samples, and after it its kernels, by GPU time; for each its metrics by name.
[[nodiscard]] Rows sampling_report(const Model& model);

// A row a stretch of time in which a GPU was sampled, by GPU, metric and time.
[[nodiscard]] Rows utilization_report(const Model& model);

}  // namespace dlkprof::report
