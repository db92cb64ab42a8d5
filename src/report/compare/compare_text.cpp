#include <algorithm>

#include "report/compare/compare_view.h"
#include "report/format/layout.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kColumnGap = 2;
constexpr std::size_t kLeastNameWidth = 28;  // of the first column
constexpr std::size_t kBriefSentences = 5;

std::vector<std::size_t> widths_of(const CompareGrid& grid) {
  std::vector<std::size_t> widths;
  for (const std::string& column : grid.columns) widths.push_back(display_width(column));
  for (const CompareRow& row : grid.rows) {
    if (row.cells.size() != widths.size()) continue;  // a heading within the table
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], display_width(row.cells[i]));
  }
  return widths;
}

// The last columns go where all do not fit, and the first one gives room.
void fit_widths(std::vector<std::size_t>& widths, std::size_t width) {
  const auto others = [&widths] {
    std::size_t sum = 0;
    for (std::size_t i = 1; i < widths.size(); ++i) sum += widths[i] + kColumnGap;
    return sum;
  };
  while (widths.size() > 2 && std::min(widths.front(), kLeastNameWidth) + others() > width) widths.pop_back();
  widths.front() = std::min(widths.front(), width - std::min(width, others()));
}

std::string grid_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
    text += std::string(i == 0 ? 0 : kColumnGap, ' ');
    text += i == 0 ? pad_right(shorten_path(cells[i], widths[i]), widths[i]) : pad_left(cells[i], widths[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string grid_text(const CompareGrid& grid, const Page& page) {
  if (grid.rows.empty()) return "";
  std::vector<std::size_t> widths = widths_of(grid);
  fit_widths(widths, page.width);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  std::string text = "\n" + (grid.heading.empty() ? "" : bold(grid.heading, page) + "\n\n");
  text += grid_line(grid.columns, widths) + grid_line(rule, widths);
  for (const CompareRow& row : grid.rows) {
    text += row.cells.size() == 1 ? shorten_path(row.cells.front(), page.width) + "\n" : grid_line(row.cells, widths);
    if (!row.note.empty()) text += "  " + shorten_path(row.note, page.width - 2) + "\n";
  }
  if (!grid.more.empty()) text += wrap(grid.more, page.width, 0, 0) + "\n";
  return text;
}

std::string sentence_text(const std::string& sentence, const Page& page) {
  return "- " + wrap_shortened(sentence, page.width, 2, 2) + "\n";
}

}  // namespace

std::string compare_text(const CompareView& view, const Page& page, bool brief) {
  std::string text = bold(shorten_middle(view.title, page.width), page) + "\n";
  for (const CompareSection& section : view.sections) {
    text += "\n" + bold(shorten_middle(section.heading, page.width), page) + "\n";
    if (!section.sentences.empty()) text += "\n";
    const std::size_t sentences = brief ? std::min(section.sentences.size(), kBriefSentences) : section.sentences.size();
    for (std::size_t i = 0; i < sentences; ++i) text += sentence_text(section.sentences[i], page);
    for (const CompareGrid& grid : section.grids) {
      text += grid_text(grid, page);
      if (brief) break;
    }
  }
  if (brief) return text;
  text += "\n";
  for (const std::string& note : view.footnotes) text += wrap_shortened(note, page.width, 0, 0) + "\n";
  return text;
}

}  // namespace dlkprof::report
