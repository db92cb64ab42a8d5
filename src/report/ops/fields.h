// How reports of DLProf's kind are described: a list of fields, each a column with the way to its cell.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/names.h"
#include "model/profile.h"
#include "report/format/rows.h"

namespace dlkprof::report {

// Whether PyTorch ran: some columns exist only then (guide, 10.3).
[[nodiscard]] bool is_pytorch(const model::Fold& fold);

// "fprop", "bprop"; empty where an op has no direction.
[[nodiscard]] Cell direction_cell(model::Direction direction);
// Text, or an empty cell where there is none.
[[nodiscard]] Cell text_cell(const std::string& text);

// Of a kernel, for Field::whole_name; null of kNone.
[[nodiscard]] const std::string* whole_name(const model::Timeline& timeline, std::uint32_t kernel);

// A finite number, or an empty cell.
[[nodiscard]] Cell number_cell(const std::optional<double>& value);

template <typename Row>
struct Field {
  std::string name, unit;
  std::function<Cell(const Row&)> cell;
  std::function<const std::string*(const Row&)> whole_name;  // of a column that names kernels, as Rows::Kernels has it
};
template <typename Row>
using Fields = std::vector<Field<Row>>;

// `more` are of rows, of a base class of theirs, or of what `part` gives of a row.
template <typename Row, typename Part = Row, typename PartOf = std::identity>
void append(Fields<Row>& fields, const Fields<Part>& more, PartOf part = {}) {
  for (const Field<Part>& field : more) {
    if constexpr (std::is_same_v<Row, Part>) {
      fields.push_back(field);
    } else {
      fields.push_back(
          {field.name, field.unit, [cell = field.cell, part](const Row& row) { return cell(std::invoke(part, row)); }});
      if (!field.whole_name) continue;
      fields.back().whole_name = [name = field.whole_name, part](const Row& row) { return name(std::invoke(part, row)); };
    }
  }
}

// Op ID, Op Name, and Direction where PyTorch ran.
[[nodiscard]] Fields<model::Op> op_name_fields(const model::Fold& fold);

// Grid Size, Block Size, Cluster Size; empty where there is no key.
[[nodiscard]] Fields<const capture::LaunchKey*> size_fields();

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
  std::optional<Rows::Kernels> kernels;
  for (std::size_t column = 0; column < fields.size(); ++column) {
    if (!fields[column].whole_name) continue;
    kernels = {column, [whole_name = fields[column].whole_name, row](std::size_t i) { return whole_name(row(i)); }};
  }
  return {std::move(name), std::move(columns), count,
          [fields = std::move(fields), row = std::move(row)](std::size_t i, std::vector<Cell>& cells) {
            const Row& shown = row(i);
            for (std::size_t column = 0; column < fields.size(); ++column) cells[column] = fields[column].cell(shown);
          },
          std::move(kernels)};
}

// A row for each of `rows`, which outlive it.
template <typename Row>
[[nodiscard]] Rows make_rows(std::string name, Fields<Row> fields, const std::vector<Row>& rows) {
  return make_rows(std::move(name), std::move(fields), rows.size(), [&rows](std::size_t i) -> const Row& { return rows[i]; });
}

// The same with `rows` kept inside.
template <typename Row>
[[nodiscard]] Rows make_rows(std::string name, Fields<Row> fields, std::vector<Row>&& rows) {
  const auto kept = std::make_shared<const std::vector<Row>>(std::move(rows));
  return make_rows(std::move(name), std::move(fields), kept->size(), [kept](std::size_t i) -> const Row& { return (*kept)[i]; });
}

}  // namespace dlkprof::report
