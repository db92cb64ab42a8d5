#include <algorithm>

#include "base/text.h"
#include "report/compare/compare_view.h"
#include "report/format/layout.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kLineWidth = 110;  // of sentences
constexpr const char* kGap = "  ";

std::vector<std::size_t> widths_of(const CompareGrid& grid) {
  std::vector<std::size_t> widths;
  for (const std::string& column : grid.columns) widths.push_back(display_width(column));
  for (const CompareRow& row : grid.rows) {
    if (row.cells.size() != widths.size()) continue;  // a heading within the table
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(row.cells[i]));
  }
  return widths;
}

std::string grid_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += (i == 0 ? "" : kGap) + (i == 0 ? pad_right(cells[i], widths[i]) : pad_left(cells[i], widths[i]));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string grid_text(const CompareGrid& grid) {
  if (grid.rows.empty()) return "";
  const std::vector<std::size_t> widths = widths_of(grid);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  std::string text = "\n" + (grid.heading.empty() ? "" : grid.heading + "\n\n");
  text += grid_line(grid.columns, widths) + grid_line(rule, widths);
  for (const CompareRow& row : grid.rows) {
    text += grid_line(row.cells, widths);
    if (!row.note.empty()) text += "  " + row.note + "\n";
  }
  if (!grid.more.empty()) text += grid.more + "\n";
  return text;
}

}  // namespace

std::string compare_text(const CompareView& view) {
  std::string text = view.title + "\n";
  for (const CompareSection& section : view.sections) {
    text += "\n" + section.heading + "\n";
    if (!section.sentences.empty()) text += "\n";
    for (const std::string& sentence : section.sentences) text += "- " + wrap(sentence, kLineWidth, 2, 2) + "\n";
    for (const CompareGrid& grid : section.grids) text += grid_text(grid);
  }
  text += "\n";
  for (const std::string& note : view.footnotes) text += wrap(note, kLineWidth, 0, 0) + "\n";
  return text;
}

}  // namespace dlkprof::report
