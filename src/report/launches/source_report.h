// The report `source`: where in the code warps were found by PC sampling, a row an instruction.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// Kernels by the GPU cycles sampled in them, within a kernel the instructions with most samples first.
[[nodiscard]] Rows source_report(const Model& model);

}  // namespace dlkprof::report
