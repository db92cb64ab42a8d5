// How reports of DLProf's kind are described: a list of fields, each a column with the way to its cell.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/profile.h"
#include "report/format/rows.h"

namespace dlkprof::report {

// Whether PyTorch ran: some columns exist only then (guide, 10.3).
[[nodiscard]] bool is_pytorch(const model::Fold& fold);

// "fprop", "bprop"; empty where an op has no direction.
[[nodiscard]] const char* direction(model::Direction direction);
[[nodiscard]] Cell direction_cell(model::Direction direction);
// "counter", "name", "unknown".
[[nodiscard]] const char* tensor_core_source(model::TensorCoreSource source);
// Text, or an empty cell where there is none.
[[nodiscard]] Cell text_cell(const std::string& text);

template <typename Row>
struct Field {
  std::string name, unit;
  std::function<Cell(const Row&)> cell;
};
template <typename Row>
using Fields = std::vector<Field<Row>>;

template <typename Row>
void append(Fields<Row>& fields, Fields<Row> more) {
  for (Field<Row>& field : more) fields.push_back(std::move(field));
}

// Total, average, least and most of a figure in ns, named as the guide names them; empty where nothing was added up.
template <typename Row>
[[nodiscard]] Fields<Row> stats_fields(const std::string& what, model::Stats Row::*stats) {
  const auto field = [&](const char* kind, auto get) {
    return Field<Row>{std::string(kind) + " " + what + " (ns)", "ns",
                      [stats, get](const Row& row) -> Cell { return (row.*stats).n == 0 ? Cell{} : Cell{get(row.*stats)}; }};
  };
  return {field("Total", [](const model::Stats& all) { return all.total; }),
          field("Avg.", [](const model::Stats& all) { return all.mean(); }),
          field("Min", [](const model::Stats& all) { return all.least; }),
          field("Max", [](const model::Stats& all) { return all.most; })};
}

template <typename Row>
[[nodiscard]] std::vector<Column> columns_of(const Fields<Row>& fields) {
  std::vector<Column> columns;
  for (const Field<Row>& field : fields) columns.push_back({field.name, field.unit});
  return columns;
}

// `row(i)` gives the i-th row.
template <typename Row, typename RowAt>
[[nodiscard]] Rows make_rows(std::string name, Fields<Row> fields, std::size_t count, RowAt row) {
  std::vector<Column> columns = columns_of(fields);
  return {std::move(name), std::move(columns), count,
          [fields = std::move(fields), row = std::move(row)](std::size_t i, std::vector<Cell>& cells) {
            const Row& shown = row(i);
            for (std::size_t column = 0; column < fields.size(); ++column) cells[column] = fields[column].cell(shown);
          }};
}

// A row for each of `rows`, which outlive it.
template <typename Row>
[[nodiscard]] Rows make_rows(std::string name, Fields<Row> fields, const std::vector<Row>& rows) {
  return make_rows(std::move(name), std::move(fields), rows.size(), [&rows](std::size_t i) -> const Row& { return rows[i]; });
}

}  // namespace dlkprof::report
