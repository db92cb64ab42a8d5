// The report `measured`: where each figure comes from.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// A row a metric of a launch configuration, of the launches that were measured alike (model/aggregate/provenance.h): on how many
// launches, how far they lie apart, how they were collected, at which clock.
[[nodiscard]] Rows measured_report(const Model& model);

}  // namespace dlkprof::report
