// The system that was profiled, as far as its captures say.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/timeline/timeline.h"
#include "report/format/table.h"

namespace dlkprof::report {

// The rows of the guide's table (10.2) in its order. Empty where the captures do not say.
[[nodiscard]] std::vector<std::pair<std::string, Cell>> system_config(const model::Timeline& timeline,
                                                                      const std::string& profile_name);

}  // namespace dlkprof::report
