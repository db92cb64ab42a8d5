// The reports of launches and samples. The profile outlives the rows.
#pragma once

#include "model/profile.h"
#include "report/format/rows.h"

namespace dlkprof::report {

// Where each figure comes from: a row per metric of a launch configuration, of the launches that were measured alike
// (model/aggregate/provenance.h): on how many launches, how far they lie apart, how they were collected, at which clock.
[[nodiscard]] Rows measured_report(const model::Profile& profile);

// Where in the code warps were found by PC sampling, a row per instruction: kernels by the GPU cycles sampled in them, within a
// kernel the instructions with most samples first.
[[nodiscard]] Rows source_report(const model::Profile& profile);

// A metric of an op or kernel with how sure it is, of replay mode sample: each op that has samples, and after it its kernels, by
// GPU time; for each its metrics by name.
[[nodiscard]] Rows sampling_report(const model::Profile& profile);

// What GPUs did over time: a row per stretch of time in which a GPU was sampled, by GPU, metric and time.
[[nodiscard]] Rows utilization_report(const model::Profile& profile);

}  // namespace dlkprof::report
