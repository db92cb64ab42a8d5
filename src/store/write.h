// What write_database() puts into its file.
#pragma once

#include "model/diagnosis.h"
#include "model/profile.h"
#include "store/sqlite.h"

namespace dlkprof::store {

// All of a run, with its first aggregation, into the tables of a database that has no rows yet. Within a transaction of the
// caller's.
void insert_run(const Connection& connection, const model::Profile& profile, const model::Diagnosis& diagnosis);

}  // namespace dlkprof::store
