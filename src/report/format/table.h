// A report as data: named columns and rows of cells. Everything that is printed as csv, json or an aligned table is one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlkprof::report {

// Empty where nothing was measured: never a guess, never a zero that stands for one.
using Cell = std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string>;

struct Column {
  std::string name;
  std::string unit;  // of every cell of the column; empty where it has none or none is known
};

// "Total GPU Time" of "Total GPU Time (ns)".
[[nodiscard]] std::string_view without_unit(std::string_view column);

struct Table {
  std::string name;  // of the report
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as there are columns
};

// A cell as text, in base units: doubles in their shortest form that reads back the same, "true" and "false"; empty for an
// empty cell.
[[nodiscard]] std::string cell_text(const Cell& cell);
void add_cell_text(std::string& out, const Cell& cell);

// For people: columns as wide as their longest cell, numbers to the right, a rule under the heading. Text is made
// printable, and cells of more than `max_cell_columns` characters are cut.
[[nodiscard]] std::string to_text(const Table& table, std::size_t max_cell_columns = 100);

// The same with cells of several words broken into lines where the table is wider than the page.
[[nodiscard]] std::string to_wrapped_text(const Table& table, std::size_t width);

}  // namespace dlkprof::report
