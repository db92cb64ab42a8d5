// The report `stall`: what warps of each measured op and kernel waited for, a row a reason.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// By GPU time, and for each op and kernel by the share of the reason. Explained are the three largest. An op or kernel that was
// measured, but not for this, has a row with empty cells.
[[nodiscard]] Rows stall_report(const Model& model);

}  // namespace dlkprof::report
