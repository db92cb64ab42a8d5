// What the diagnosis found: the views over its tables.
#pragma once

#include <string>
#include <vector>

#include "store/schema.h"

namespace dlkprof::store {

// With them phases and gaps, which follow from other tables.
[[nodiscard]] std::vector<View> diagnosis_views();

// SQL: the phase of the op in table o; where neither its direction nor its name says it, what `otherwise` does.
[[nodiscard]] std::string phase_of_op(const std::string& otherwise);

}  // namespace dlkprof::store
