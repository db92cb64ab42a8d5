// What was measured, what was not and why: a few lines for the end of a run.
#pragma once

#include <string>

#include "model/run.h"
#include "report/table.h"

namespace dlkprof::report {

// For people.
[[nodiscard]] std::string summary(const model::Run& run);

// The same figures for scripts: a row with one column a figure.
[[nodiscard]] Table summary_report(const model::Run& run);

}  // namespace dlkprof::report
