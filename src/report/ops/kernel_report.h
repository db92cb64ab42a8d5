// The report `kernel`: a row a kernel of an operation (guide, 10.5), then its counters. Not to be taken for `kernels`
// (kernels_report.h), which shows launches that were measured, section by section.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows kernel_report(const Model& model);

}  // namespace dlkprof::report
