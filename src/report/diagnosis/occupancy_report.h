// The reports `occupancy`, a row a launch configuration, and `occupancy_curves`, what its occupancy would be.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows occupancy_report(const Model& model);

// A row a point: theoretical occupancy while block size, registers or shared memory change and all else stays.
[[nodiscard]] Rows occupancy_curves_report(const Model& model);

}  // namespace dlkprof::report
