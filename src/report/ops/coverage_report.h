// The report `coverage`: what was measured and what was not, and why.
#pragma once

#include "report/ops/fields.h"

namespace dlkprof::report {

// A row a launch configuration, by GPU time: how many of its launches were seen, matched, measured and left alone, their GPU
// time, and why it was not measured as often as asked. Configurations of functions that no filter takes are one row.
[[nodiscard]] Rows coverage_report(const Model& model);

}  // namespace dlkprof::report
