#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/compare/compare_view.h"
#include "report/format/markup.h"

namespace dlkprof::report {
namespace {

constexpr const char* kPageStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #ddd; white-space: nowrap; vertical-align: top; }
th { border-bottom: 2px solid #888; } th:first-child, td:first-child { text-align: left; white-space: pre-wrap; }
div.note { color: #555; font-size: .85em; max-width: 30rem; overflow-wrap: anywhere; } p.more, footer { color: #555; font-size: .9em; }
svg { display: block; } .base { fill: #999; } .other { fill: #3a6ea5; } summary { cursor: pointer; font-weight: bold; margin: 1.5rem 0 .3rem; }
th:first-child, td:first-child, li, footer { overflow-wrap: anywhere; } th:first-child, td:first-child { min-width: 14rem; }
@media (prefers-color-scheme: dark) { :root { color-scheme: dark; } body { color: #ddd; background: #161616; }
th, td { border-color: #444; } div.note, p.more, footer { color: #aaa; } .other { fill: #6ea8e0; } }
@media print { body { margin: 0; max-width: none; font-size: 8px; color: #000; background: #fff; } .wide { overflow: visible; }
table { width: 100%; } th, td { white-space: normal; padding: .1rem .3rem; } tr { break-inside: avoid; } }
)";

// The times of both runs, one above the other.
std::string bars_html(const std::vector<double>& bars) {
  constexpr double kBarWidth = 160;
  constexpr int kHeight = 7;
  std::string text = fmt::format("<svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"times of both runs\">", kBarWidth,
                                 kHeight * bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    text += fmt::format("<rect class=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>", i == 0 ? "base" : "other", i * kHeight,
                        kBarWidth * std::clamp(bars[i], 0.0, 1.0), kHeight - 1);
  }
  return text + "</svg>";
}

// The bars stand beside the name, where no window cuts them off.
std::string row_html(const CompareRow& row, std::size_t columns, bool has_bars) {
  const std::string note = row.note.empty() ? "" : "<div class=\"note\">" + markup_escaped(row.note) + "</div>";
  std::string text = "<tr>";
  for (std::size_t i = 0; i < columns; ++i) {
    text += "<td>" + (i < row.cells.size() ? markup_escaped(row.cells[i]) : "") + (i == 0 ? note : "") + "</td>";
    if (i == 0 && has_bars) text += "<td>" + (row.bars.empty() ? "" : bars_html(row.bars)) + "</td>";
  }
  return text + "</tr>\n";
}

std::string grid_html(const CompareGrid& grid) {
  if (grid.rows.empty()) return "";
  const bool has_bars = std::any_of(grid.rows.begin(), grid.rows.end(), [](const CompareRow& row) { return !row.bars.empty(); });
  // Folded by a click or a key, so that the next table is near.
  const bool folds = !grid.heading.empty();
  std::string text = folds ? "<details open>\n<summary>" + markup_escaped(grid.heading) + "</summary>\n" : "";
  text += "<div class=\"wide\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    text += "<th scope=\"col\">" + markup_escaped(grid.columns[i]) + "</th>";
    if (i == 0 && has_bars) text += "<th scope=\"col\">GPU time</th>";
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const CompareRow& row : grid.rows) text += row_html(row, grid.columns.size(), has_bars);
  text += "</tbody></table></div>\n";
  if (!grid.more.empty()) text += "<p class=\"more\">" + markup_escaped(grid.more) + "</p>\n";
  return text + (folds ? "</details>\n" : "");
}

}  // namespace

std::string compare_html(const CompareView& view) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      markup_escaped(view.title), kPageStyle);
  for (const CompareSection& section : view.sections) {
    text += "<section>\n<h2>" + markup_escaped(section.heading) + "</h2>\n";
    if (!section.sentences.empty()) text += "<ul>\n";
    for (const std::string& sentence : section.sentences) text += "<li>" + markup_escaped(sentence) + "</li>\n";
    if (!section.sentences.empty()) text += "</ul>\n";
    for (const CompareGrid& grid : section.grids) text += grid_html(grid);
    text += "</section>\n";
  }
  text += "<footer>\n";
  for (const std::string& note : view.footnotes) text += "<p>" + markup_escaped(note) + "</p>\n";
  return text + "</footer>\n</body>\n</html>\n";
}

}  // namespace dlkprof::report
