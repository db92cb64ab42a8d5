// Where the unit of a metric is looked up.
#pragma once

#include <filesystem>

#include "cupti/catalogue.h"
#include "report/launches/reports.h"

namespace dlkprof::report {

// The unit that a section row names, else NVPerf's where CUPTI can be opened on this machine, else none. The
// catalogue comes first so that a report reads the same with and without CUPTI.
[[nodiscard]] UnitLookup unit_lookup(const cupti::Catalogue& catalogue, const model::Timeline& timeline,
                                     const std::filesystem::path& cupti_path = {});

}  // namespace dlkprof::report
