// The report `metrics`: a row a measured launch, a column a metric, in base units. What scripts read.
#pragma once

#include <functional>
#include <string>

#include "model/run.h"
#include "report/format/table.h"

namespace dlkprof::report {

// The unit of a metric; empty where it is not known.
using UnitLookup = std::function<std::string(const std::string& metric)>;

// Columns: what identifies the launch; one a metric, named as NVPerf names it, the union over all launches in the order in
// which they were asked for; then model/aggregate/computed.h's figures; then how many launches of its key were measured in the
// same way, at which clock, and of each metric how many of them have a value, and how far these lie apart.
[[nodiscard]] Table metrics_report(const model::Run& run, const UnitLookup& unit_of);

}  // namespace dlkprof::report
