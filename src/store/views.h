// What the parts of the views have in common, and these parts.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "store/schema.h"

namespace dlkprof::store {

using ViewColumns = std::vector<ViewColumn>;

// SQL: the aggregation that views show.
inline const std::string kNewest = "(SELECT max(id) FROM aggregation)";

[[nodiscard]] ViewColumns join(std::initializer_list<ViewColumns> parts);

// Columns of a table as they are, by the name that FROM gives the table.
[[nodiscard]] ViewColumns of(const std::string& table, std::initializer_list<const char*> names);

// SQL: the phase of the op in table o; where neither its direction nor its name says it, what `otherwise` does.
[[nodiscard]] std::string phase_of_op(const std::string& otherwise);

// Of what was measured, and of what was not.
[[nodiscard]] View metrics_view();
[[nodiscard]] View metric_samples_view();
[[nodiscard]] View coverage_view();
[[nodiscard]] View instruction_counts_view();
// Of what the diagnosis found; with them phases, gaps and kinds of iterations, which follow from other tables.
[[nodiscard]] std::vector<View> diagnosis_views();

}  // namespace dlkprof::store
