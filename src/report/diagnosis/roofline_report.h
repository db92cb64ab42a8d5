// The report `roofline`: arithmetic intensity and performance of each measured op and kernel by precision, beside what compute
// and memory allow.
#pragma once

#include <string>

#include "report/ops/fields.h"

namespace dlkprof::report {

// A row a precision; an op or kernel without a count of operations has one row with empty cells.
[[nodiscard]] Rows roofline_report(const Model& model);

// The kernels of the same as a picture: a self-contained SVG, both axes logarithmic. Points are as large as their GPU time, and
// name their kernel and figures when pointed at. Where there is nothing to show it says what to collect.
[[nodiscard]] std::string roofline_svg(const Model& model);

}  // namespace dlkprof::report
