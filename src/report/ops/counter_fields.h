// The columns that measured counters give: the same in every report that has them, after DLProf's own.
#pragma once

#include "advise/quantities.h"
#include "model/aggregate/provenance.h"
#include "report/ops/fields.h"

namespace dlkprof::report {

// Columns over Counters. What the metrics of the launches measured do not answer is empty.
[[nodiscard]] const Fields<model::Counters>& counter_fields();

// The same over rows that have counters at `counters`.
template <typename Row>
[[nodiscard]] Fields<Row> counter_fields(model::Counters Row::*counters) {
  Fields<Row> fields;
  for (const Field<model::Counters>& field : counter_fields()) {
    fields.push_back({field.name, field.unit, [counters, &field](const Row& row) { return field.cell(row.*counters); }});
  }
  fields.push_back({"Measured GPU Time (ns)", "ns", [counters](const Row& row) -> Cell { return (row.*counters).covered_ns; }});
  return fields;
}

// A count as it was measured, before it is scaled to the row's launches; empty where it comes from samples.
[[nodiscard]] Cell measured_sum(const model::Counters& counters, advise::Quantity quantity);
// How many launches counts were measured on, and the row's launches that they are scaled to; then metrics that were left out, as
// their values cannot be (model/aggregate/reliable.h), joined by "; ".
[[nodiscard]] const Fields<model::Counters>& scaling_fields();

// What counts are scaled from and to, over rows that have counters at `counters`.
template <typename Row>
[[nodiscard]] Fields<Row> scaling_fields(model::Counters Row::*counters) {
  Fields<Row> fields{{"DRAM Bytes Measured", "byte",
                      [counters](const Row& row) { return measured_sum(row.*counters, advise::Quantity::dram_bytes); }}};
  for (const Field<model::Counters>& field : scaling_fields()) {
    fields.push_back({field.name, field.unit, [counters, &field](const Row& row) { return field.cell(row.*counters); }});
  }
  return fields;
}

// How the launches behind the counters were measured, where that is known, and what counts are scaled from. At the end of a
// report's columns.
template <typename Row>
[[nodiscard]] Fields<Row> collected_fields(model::Counters Row::*counters) {
  Fields<Row> fields{{"Collected By", "",
                      [counters](const Row& row) { return text_cell(model::replay_modes_text((row.*counters).replay_modes)); }},
                     {"Cache Control", "", [counters](const Row& row) {
                        return text_cell(model::cache_controls_text((row.*counters).cache_controls));
                      }}};
  append(fields, scaling_fields(counters));
  return fields;
}

// The achieved occupancy in per cent; empty where it was not measured.
[[nodiscard]] Cell achieved_occupancy(const model::Counters& counters);

}  // namespace dlkprof::report
