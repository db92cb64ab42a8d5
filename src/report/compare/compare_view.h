// The comparison of runs for people: the same headings, sentences and tables on a terminal and on a page.
#pragma once

#include <string>
#include <vector>

#include "advise/compare/compare_runs.h"
#include "report/format/layout.h"

namespace dlkprof::report {

// Cells are printable, and short enough for a table.
struct CompareRow {
  std::vector<std::string> cells;
  std::string note;  // beneath the row; may be long
};

struct CompareGrid {
  std::string heading;               // may be empty
  std::vector<std::string> columns;  // the first is text, the others are set to the right
  std::vector<CompareRow> rows;
  std::string more;  // said of rows that are left out
};

struct CompareSection {
  std::string heading;
  std::vector<std::string> sentences;
  std::vector<CompareGrid> grids;
};

struct CompareView {
  std::string title;
  std::vector<CompareSection> sections;
  std::vector<std::string> footnotes;
};

// With at most so many ops of each pair of runs.
[[nodiscard]] CompareView compare_view(const advise::ComparedRuns& compared, std::size_t most_ops);

// For a terminal: no line is wider than the page, columns that do not fit are left out. The brief form has the first sentences
// and the first table of each section.
[[nodiscard]] std::string compare_text(const CompareView& view, const Page& page = {}, bool brief = false);

}  // namespace dlkprof::report
