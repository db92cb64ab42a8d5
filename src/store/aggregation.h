// The rows of one aggregation.
#pragma once

#include "model/diagnosis.h"
#include "store/database.h"
#include "store/sqlite.h"

namespace dlkprof::store {

// Within a transaction of the caller's.
void insert_aggregation(const Connection& connection, int id, const model::Profile& profile, const model::Diagnosis& diagnosis);

}  // namespace dlkprof::store
