// Metrics that the command line names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cupti/catalogue.h"
#include "model/timeline/timeline.h"

namespace dlkprof::cli {

// Throws UsageError where no chip knows one of them: it is mistyped. NVPerf, which takes half a second to load, is asked only of
// those that are not in the catalogue. Throws Error where CUPTI is not found then.
void check_metrics_exist(const std::vector<std::string>& metrics, const cupti::Catalogue& catalogue,
                         const std::filesystem::path& cupti_path);

// Says on stderr which of them the run has no values of, and what collects them. Throws UsageError as check_metrics_exist() does,
// as far as CUPTI is there to ask, and Error where the run has values of none.
void check_metrics_measured(const std::vector<std::string>& metrics, const model::Timeline& timeline,
                            const cupti::Catalogue& catalogue, const std::filesystem::path& cupti_path);

}  // namespace dlkprof::cli
