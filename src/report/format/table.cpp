#include "report/format/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/text.h"
#include "report/format/layout.h"

namespace dlkprof::report {
namespace {

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::uint64_t>(cell) || std::holds_alternative<std::int64_t>(cell) ||
         std::holds_alternative<double>(cell);
}

// A line of cells; numbers are set to the right, and no line ends in blanks.
std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, const std::vector<bool>& right) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += "  ";
    text += right[i] ? pad_left(cells[i], widths[i]) : pad_right(cells[i], widths[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string_view without_unit(std::string_view column) {
  return column.ends_with(')') ? column.substr(0, column.rfind(" (")) : column;
}

void add_cell_text(std::string& out, const Cell& cell) {
  if (const auto* truth = std::get_if<bool>(&cell)) out += *truth ? "true" : "false";
  const auto add = [&out](const fmt::format_int& digits) { out.append(digits.data(), digits.size()); };
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) add(fmt::format_int(*count));
  if (const auto* number = std::get_if<std::int64_t>(&cell)) add(fmt::format_int(*number));
  if (const auto* number = std::get_if<double>(&cell); number != nullptr && std::isfinite(*number)) {
    fmt::format_to(std::back_inserter(out), "{}", *number);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) out += *text;
}

std::string cell_text(const Cell& cell) {
  std::string text;
  add_cell_text(text, cell);
  return text;
}

std::string to_text(const Table& table, std::size_t max_cell_columns) {
  std::vector<std::string> heading;
  for (const Column& column : table.columns) heading.push_back(printable(column.name, max_cell_columns));
  std::vector<std::vector<std::string>> lines{heading};
  std::vector<bool> right(heading.size(), !table.rows.empty());
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string>& cells = lines.emplace_back();
    for (std::size_t i = 0; i < heading.size(); ++i) {
      cells.push_back(printable(cell_text(row[i]), max_cell_columns));
      if (!is_number(row[i]) && !cells.back().empty()) right[i] = false;
    }
  }
  std::vector<std::size_t> widths(heading.size(), 0);
  for (const std::vector<std::string>& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i]));
  }
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  lines.insert(lines.begin() + 1, rule);
  std::string text;
  for (const std::vector<std::string>& cells : lines) text += line(cells, widths, right);
  return text;
}

std::string to_wrapped_text(const Table& table, std::size_t width) {
  constexpr std::size_t kLeast = 16;
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    widths.push_back(display_width(table.columns[column].name));
    for (const std::vector<Cell>& row : table.rows)
      widths[column] = std::max(widths[column], display_width(cell_text(row[column])));
  }
  const auto total = [&widths] { return std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1)); };
  while (total() > width) {  // the widest gives way
    std::size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= kLeast) break;
    --widest;
  }
  Table broken{table.name, table.columns, {}};
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 0;
    for (std::size_t column = 0; column < row.size(); ++column) {
      cells.push_back(split(wrap(printable(cell_text(row[column])), widths[column], 0, 0), '\n'));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t line = 0; line < lines; ++line) {
      std::vector<Cell>& shown = broken.rows.emplace_back();
      for (const std::vector<std::string>& cell : cells) shown.emplace_back(line < cell.size() ? cell[line] : std::string());
    }
  }
  return to_text(broken);
}

}  // namespace dlkprof::report
