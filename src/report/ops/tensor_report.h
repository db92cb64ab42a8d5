// The report `tensor`: a row an operation that can use, or uses, tensor cores (guide, 10.6), then its counters.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows tensor_report(const Model& model);

}  // namespace dlkprof::report
