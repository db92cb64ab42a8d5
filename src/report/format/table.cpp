#include "report/format/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

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

}  // namespace dlkprof::report
