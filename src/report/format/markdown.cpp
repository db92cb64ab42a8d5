#include "report/format/markdown.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"

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

std::string markdown_table(const Rows& all, const Choice& choice, std::span<const PeopleColumn> columns) {
  Choice chosen = choice;
  if (!chosen.top) chosen.top = kRowsForPeople;
  if (chosen.columns.empty()) {
    for (const PeopleColumn& column : columns) chosen.columns.emplace_back(column.column);
  }
  const auto [rows, left_out] = choose(all, chosen);
  std::string text = "|";
  for (const Column& column : rows.columns)
    text += fmt::format(" {} |", in_markdown(column.unit.empty() ? column.name : without_unit(column.name)));
  text += "\n|";
  for (std::size_t i = 0; i < rows.columns.size(); ++i) text += " --- |";
  text += "\n";
  std::vector<Cell> cells(rows.columns.size());
  for (std::size_t row = 0; row < rows.count; ++row) {
    rows.fill(row, cells);
    text += "|";
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += fmt::format(" {} |", in_markdown(people_text(cells[i], rows.columns[i].unit)));
    text += "\n";
  }
  return left_out == 0 ? text : text + fmt::format("\n{} more rows: --top 0\n", left_out);
}

}  // namespace dlkprof::report
