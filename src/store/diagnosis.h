// What the diagnosis found: its tables, the views over them, and their rows.
#pragma once

#include <string>
#include <vector>

#include "model/diagnosis.h"
#include "store/schema.h"

namespace dlkprof::store {

[[nodiscard]] std::vector<Table> diagnosis_tables();
// These, and with them phases and gaps, which follow from other tables.
[[nodiscard]] std::vector<View> diagnosis_views();

// SQL: the phase of the op in table o; where neither its direction nor its name says it, what `otherwise` does.
[[nodiscard]] std::string phase_of_op(const std::string& otherwise);

// The rows of one aggregation, within a transaction of the caller's.
void insert_diagnosis(const Connection& connection, int aggregation, const model::Diagnosis& diagnosis);

}  // namespace dlkprof::store
