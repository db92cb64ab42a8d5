#include "report/format/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::report {
namespace {

// Columns whose text -k looks at.
constexpr std::array<std::string_view, 8> kNameColumns{"Kernel Name", "Long Kernel Name", "Op Name", "Op ID",
                                                       "Op Type",     "Mangled Name",     "Where",   "Name"};

// Lower case, with blanks for `_` and `-`, and without full stops.
std::string folded(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (letter == '.') continue;
    text += letter == '_' || letter == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

// "occupancy" of "occu-\npancy", "DRAM rate" of "DRAM\nrate".
std::string heading_text(std::string_view heading) {
  std::string text;
  for (const char letter : heading) {
    if (letter != '\n') {
      text += letter;
    } else if (text.ends_with('-')) {
      text.pop_back();
    } else if (!text.ends_with('/')) {
      text += ' ';
    }
  }
  return text;
}

bool has_name(const Column& column, const std::string& asked) {
  return folded(column.name) == asked || folded(without_unit(column.name)) == asked;
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* value = std::get_if<std::uint64_t>(&cell)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* value = std::get_if<bool>(&cell)) return *value ? 1 : 0;
  return std::nullopt;
}

bool is_before(const Cell& a, const Cell& b) {
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (left && right) return *left > *right;
  if (left || right) return left.has_value();
  const auto* text = std::get_if<std::string>(&a);
  const auto* other = std::get_if<std::string>(&b);
  if (text != nullptr && other != nullptr) return *text < *other;
  return text != nullptr && other == nullptr;
}

std::vector<std::size_t> name_columns(const Rows& rows) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    if (std::find(kNameColumns.begin(), kNameColumns.end(), rows.columns[i].name) != kNameColumns.end()) found.push_back(i);
  }
  if (found.empty()) {
    throw UsageError(fmt::format("the report {} names neither kernels nor ops", rows.name), "", "Leave out -k.");
  }
  return found;
}

// Indices of the rows shown, in their order.
std::vector<std::size_t> choose_rows(const Rows& rows, const Choice& choice) {
  std::vector<std::size_t> order;
  if (!choice.accepts && choice.sort.empty()) {
    order.resize(rows.count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  const std::vector<std::size_t> names = choice.accepts ? name_columns(rows) : std::vector<std::size_t>();
  const std::size_t sorted = choice.sort.empty() ? 0 : find_column(rows, choice.sort);
  std::vector<Cell> cells(rows.columns.size());
  std::vector<std::pair<Cell, std::size_t>> taken;
  const auto accepted = [&](std::size_t column) {
    const auto* name = std::get_if<std::string>(&cells[column]);
    return name != nullptr && choice.accepts(*name);
  };
  for (std::size_t i = 0; i < rows.count; ++i) {
    rows.fill(i, cells);
    if (choice.accepts && std::none_of(names.begin(), names.end(), accepted)) continue;
    taken.emplace_back(choice.sort.empty() ? Cell{} : cells[sorted], i);
  }
  std::stable_sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return is_before(a.first, b.first); });
  std::transform(taken.begin(), taken.end(), std::back_inserter(order), [](const auto& one) { return one.second; });
  return order;
}

}  // namespace

std::size_t find_column(const Rows& rows, const std::string& name) {
  const auto find = [&](auto same) {
    return static_cast<std::size_t>(std::find_if(rows.columns.begin(), rows.columns.end(), same) - rows.columns.begin());
  };
  const std::string asked = folded(name);
  std::size_t found = find([&](const Column& column) { return folded(column.name) == asked; });
  if (found == rows.columns.size()) {
    found = find([&](const Column& column) { return folded(without_unit(column.name)) == asked; });
  }
  if (found < rows.columns.size()) return found;
  std::vector<std::string> names, without_units;
  for (const Column& column : rows.columns) {
    names.push_back(column.name);
    without_units.push_back(folded(without_unit(column.name)));
  }
  const std::string near = closest(asked, without_units);
  throw UsageError(fmt::format("the report {} has no column '{}'", rows.name, printable(name, 80)), "",
                   near.empty()
                       ? fmt::format("It has: {}", fmt::join(names, ", "))
                       : fmt::format("Did you mean '{}'?",
                                     names[static_cast<std::size_t>(std::find(without_units.begin(), without_units.end(), near) -
                                                                    without_units.begin())]));
}

Choice named_by_heading(Choice choice, const Rows& rows, std::span<const PeopleColumn> columns) {
  const auto translate = [&](std::string& name) {
    const std::string asked = folded(name);
    const auto is_column = [&](const Column& column) { return has_name(column, asked); };
    if (std::any_of(rows.columns.begin(), rows.columns.end(), is_column)) return;
    const auto heads = [&](const PeopleColumn& one) { return folded(heading_text(one.heading)) == asked; };
    const auto found = std::find_if(columns.begin(), columns.end(), heads);
    if (found != columns.end()) name = found->column;
  };
  std::for_each(choice.columns.begin(), choice.columns.end(), translate);
  if (!choice.sort.empty()) translate(choice.sort);
  return choice;
}

ChosenRows choose(const Rows& rows, const Choice& choice) {
  if (!choice.is_asked()) return {rows, 0};
  std::vector<std::size_t> columns;
  for (const std::string& name : choice.columns) columns.push_back(find_column(rows, name));
  if (columns.empty()) {
    columns.resize(rows.columns.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
  }
  std::vector<std::size_t> order = choose_rows(rows, choice);
  const std::size_t shown = choice.top.value_or(0) == 0 ? order.size() : std::min(order.size(), *choice.top);
  ChosenRows chosen{{rows.name, {}, shown, {}}, order.size() - shown};
  for (const std::size_t column : columns) chosen.rows.columns.push_back(rows.columns[column]);
  if (rows.kernels) {
    const auto column = std::find(columns.begin(), columns.end(), rows.kernels->column);
    const auto name = [whole_name = rows.kernels->whole_name, order](std::size_t row) { return whole_name(order[row]); };
    if (column != columns.end()) chosen.rows.kernels = {static_cast<std::size_t>(column - columns.begin()), name};
  }
  auto all = std::make_shared<std::vector<Cell>>(rows.columns.size());
  chosen.rows.fill = [fill = rows.fill, order = std::move(order), columns = std::move(columns), all](std::size_t row,
                                                                                                     std::vector<Cell>& cells) {
    fill(order[row], *all);
    for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = (*all)[columns[i]];
  };
  return chosen;
}

}  // namespace dlkprof::report
