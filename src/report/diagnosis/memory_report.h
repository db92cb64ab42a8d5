// The report `memory`: what each measured op and kernel moved through DRAM, L2, L1 and shared memory.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows memory_report(const Model& model);

}  // namespace dlkprof::report
