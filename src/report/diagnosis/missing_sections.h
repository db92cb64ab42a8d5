// What would have to be collected for the cells that a report leaves empty.
#pragma once

#include <string>

#include "report/ops/fields.h"

namespace dlkprof::report {

// "stall: nothing was measured for it; collect it with --section stall"; empty where the report has what it shows, or shows
// nothing of counters.
[[nodiscard]] std::string missing_sections(const std::string& report, const model::Profile& profile);

}  // namespace dlkprof::report
