#include "report/format/markdown.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "report/format/telling_name.h"

namespace dlkprof::report {

std::string in_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_{}[]<>|#";
  std::string out;
  for (const char c : printable(text)) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

namespace {

// By row, of the column that names kernels; none where no column does.
std::vector<std::string> kernel_names(const Rows& rows) {
  if (!rows.kernels) return {};
  std::vector<const std::string*> wholes;
  for (std::size_t row = 0; row < rows.count; ++row) wholes.push_back(rows.kernels->whole_name(row));
  return telling_names(wholes);
}

}  // namespace

std::string markdown_table(const Rows& all, const Choice& choice, std::span<const PeopleColumn> columns) {
  Choice chosen = choice;
  if (!chosen.top) chosen.top = kRowsForPeople;
  if (chosen.columns.empty()) {
    for (const auto& [column, heading] : positions(all, columns)) chosen.columns.push_back(all.columns[column].name);
  }
  const auto [rows, left_out] = choose(all, chosen);
  std::string text = "|";
  for (const Column& column : rows.columns)
    text += fmt::format(" {} |", in_markdown(column.unit.empty() ? column.name : without_unit(column.name)));
  text += "\n|";
  for (std::size_t i = 0; i < rows.columns.size(); ++i) text += " --- |";
  text += "\n";
  const std::vector<std::string> kernels = kernel_names(rows);
  std::vector<Cell> cells(rows.columns.size());
  for (std::size_t row = 0; row < rows.count; ++row) {
    rows.fill(row, cells);
    text += "|";
    if (!kernels.empty() && !kernels[row].empty()) cells[rows.kernels->column] = kernels[row];
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += fmt::format(" {} |", in_markdown(people_text(cells[i], rows.columns[i].unit)));
    text += "\n";
  }
  return left_out == 0 ? text : text + fmt::format("\n{} more rows: --top 0\n", left_out);
}

}  // namespace dlkprof::report
