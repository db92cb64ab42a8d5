// The report `bottleneck`: what holds each op and kernel back.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

[[nodiscard]] Rows bottleneck_report(const Model& model);

}  // namespace dlkprof::report
