// The report `op_type`: a row a type of operation (guide, 10.7), then its counters.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows op_type_report(const Model& model);

}  // namespace dlkprof::report
