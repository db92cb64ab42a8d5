// What was measured, and how: launch by launch, and per metric of each configuration.
#pragma once

#include "model/timeline/timeline.h"
#include "store/open.h"
#include "store/rows.h"
#include "store/sqlite.h"

namespace dlkprof::store {

// Fills the tables metric, metric_set, measured_launch, measured, measured_figure and launch_count, and those of samples.
void insert_measured(const Connection& connection, const model::Timeline& timeline);

// Reads them back, but for the figures, which follow from the values. What they refer to must have been read.
void read_measured(const OpenDatabase& database, TextBudget& budget, model::Timeline& timeline);

}  // namespace dlkprof::store
