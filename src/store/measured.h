// What was measured, and how: launch by launch, and per metric of each configuration; by counters, and by samples.
#pragma once

#include "model/timeline/timeline.h"
#include "store/rows.h"

namespace dlkprof::store {

// Fills the tables of measured_rows.h.
void insert_measured(const Connection& connection, const model::Timeline& timeline);

// Reads them back, but for the figures, which follow from the values. What they refer to must have been read.
void read_measured(Reading& reading, model::Timeline& timeline);

}  // namespace dlkprof::store
