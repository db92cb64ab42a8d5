// The columns that measured counters give: the same in every report that has them, after DLProf's own.
#pragma once

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

// How the launches behind the counters were measured; empty where that is not known. At the end of a report's columns.
template <typename Row>
[[nodiscard]] Fields<Row> collected_fields(model::Counters Row::*counters) {
  return {{"Collected By", "",
           [counters](const Row& row) { return text_cell(model::replay_modes_text((row.*counters).replay_modes)); }},
          {"Cache Control", "",
           [counters](const Row& row) { return text_cell(model::cache_controls_text((row.*counters).cache_controls)); }}};
}

// The achieved occupancy in per cent; empty where it was not measured.
[[nodiscard]] Cell achieved_occupancy(const model::Counters& counters);

}  // namespace dlkprof::report
