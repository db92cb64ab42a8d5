// The report `detail`: a row an operation (guide, 10.3), then mapped GPU time and counters.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// Direction and Stack Trace are there for PyTorch only; dlkprof takes no stack traces, so that cells are empty.
[[nodiscard]] Rows detail_report(const Model& model);

}  // namespace dlkprof::report
