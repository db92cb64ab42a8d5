// The columns that measured counters give: the same in every report that has them, after DLProf's own.
#pragma once

#include "advise/quantities.h"
#include "report/ops/fields.h"

namespace dlkprof::report {

// Columns over Counters. What the metrics of the launches measured do not answer is empty.
[[nodiscard]] const Fields<model::Counters>& counter_fields();

// The same, and how much of the row's GPU time was measured.
[[nodiscard]] Fields<model::Counters> covered_counter_fields();

// A count as it was measured, before it is scaled to the row's launches; empty where it comes from samples.
[[nodiscard]] Cell measured_sum(const model::Counters& counters, advise::Quantity quantity);
// How many launches counts were measured on, and the row's launches that they are scaled to; then metrics that were left out, as
// their values cannot be (model/aggregate/reliable.h), joined by "; ".
[[nodiscard]] const Fields<model::Counters>& scaling_fields();

// The same after the DRAM bytes as they were measured.
[[nodiscard]] Fields<model::Counters> dram_scaling_fields();

// How the launches behind the counters were measured, where that is known, and what counts are scaled from. At the end of a
// report's columns.
[[nodiscard]] Fields<model::Counters> collected_fields();

// The achieved occupancy in per cent; empty where it was not measured.
[[nodiscard]] Cell achieved_occupancy(const model::Counters& counters);

}  // namespace dlkprof::report
