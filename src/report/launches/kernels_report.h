// The report `kernels` for scripts: what the kernel tables show, a row a value, in base units.
#pragma once

#include <vector>

#include "cupti/catalogue.h"
#include "model/run.h"
#include "report/format/table.h"

namespace dlkprof::report {

// Columns: ID, Kernel Name, Section, Label, Metric, Unit, Value. Rows without a value are left out.
[[nodiscard]] Table kernels_report(const model::Run& run, const std::vector<cupti::Section>& sections);

}  // namespace dlkprof::report
