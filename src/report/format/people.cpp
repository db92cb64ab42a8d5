#include "report/format/people.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "report/format/telling_name.h"

namespace dlkprof::report {
namespace {

constexpr std::size_t kGap = 2;  // between columns
// Of a column of names, and of other words: where they cannot have so much, the column goes. Shorter pieces say nothing.
constexpr std::size_t kLeastName = 24;
constexpr std::size_t kLeastWords = 36;
// Of a column that was asked for by name: it is there, however little it says.
constexpr std::size_t kLeastAsked = 12;
// The end of a path says which file it is; an instruction its opcode and first operands.
constexpr std::size_t kLeastFile = 14, kLeastInstruction = 20;

// A column on its way to the page.
struct Setting {
  std::vector<std::string> heading;  // one line or two
  std::vector<std::string> cells;
  bool right = true;                            // numbers
  bool is_name = false;                         // of a kernel, an op or a file: gets what room is left
  std::vector<const std::string*> whole_names;  // of kernels, a name or null a cell; empty: names are shown as they are
  std::size_t least_words = kLeastWords;
  std::size_t natural = 0, width = 0;
  [[nodiscard]] std::size_t least() const { return right ? natural : std::min(natural, least_words); }
  [[nodiscard]] bool is_empty() const {
    return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
  }
};

bool is_name_column(const std::string& name) {
  return name.ends_with("Name") || name.ends_with("Names") || name == "Op ID" || name == "Slowest Layer" || name == "Where" ||
         name == "Metric" || name == "Source File";
}

std::size_t least_words_of(const std::string& name) {
  if (name == "Source File") return kLeastFile;
  if (name == "SASS") return kLeastInstruction;
  return is_name_column(name) ? kLeastName : kLeastWords;
}

using WholeNames = std::vector<const std::string*>;

bool names_ops(const std::string& column) { return column == "Op Name" || column == "Name"; }

// "/Net/fc1/aten::linear bprop".
std::string with_direction(std::string name, const Cell& direction) {
  const auto* text = std::get_if<std::string>(&direction);
  return text == nullptr || text->empty() || *text == name ? name : name + " " + printable(*text);
}

Setting set_column(const Table& table, std::size_t column, const char* heading, WholeNames names,
                   const std::optional<std::size_t>& direction) {
  Setting setting;
  const Column& shown = table.columns[column];
  setting.heading = split(heading != nullptr ? heading : printable(without_unit(shown.name)), '\n');
  setting.is_name = is_name_column(shown.name);
  setting.least_words = least_words_of(shown.name);
  for (const std::vector<Cell>& row : table.rows) {
    setting.cells.push_back(people_text(row[column], shown.unit));
    if (direction && names_ops(shown.name)) setting.cells.back() = with_direction(setting.cells.back(), row[*direction]);
    if (!names.empty() && names[setting.cells.size() - 1] != nullptr) {
      setting.cells.back() = printable(telling_name(*names[setting.cells.size() - 1]));
    }
    const bool is_word = std::holds_alternative<std::string>(row[column]) || std::holds_alternative<bool>(row[column]);
    if (is_word) setting.right = false;
  }
  const auto widen = [&setting](const std::string& text) { setting.natural = std::max(setting.natural, display_width(text)); };
  std::for_each(setting.heading.begin(), setting.heading.end(), widen);
  std::for_each(setting.cells.begin(), setting.cells.end(), widen);
  setting.whole_names = std::move(names);
  return setting;
}

// Takes the last columns away until the least widths fit, and gives what room is left to those that want more.
void fit(std::vector<Setting>& settings, std::size_t width) {
  const auto least = [&settings] {
    std::size_t sum = 0;
    for (const Setting& setting : settings) sum += setting.least() + kGap;
    return sum - kGap;
  };
  while (settings.size() > 1 && least() > width) settings.pop_back();
  std::size_t room = width > least() ? width - least() : 0;
  for (Setting& setting : settings) setting.width = std::min(setting.least(), width);
  for (bool grew = true; grew && room > 0;) {  // a column at a time, so that they share alike
    grew = false;
    for (Setting& setting : settings) {
      if (room == 0 || setting.width >= setting.natural) continue;
      ++setting.width;
      --room;
      grew = true;
    }
  }
}

std::string set_cell(const Setting& setting, const std::string& text) {
  const std::string shown = setting.is_name ? shorten_path(text, setting.width) : shorten_middle(text, setting.width);
  return setting.right ? pad_left(shown, setting.width) : pad_right(shown, setting.width);
}

// Different kernels must not read the same: those that do once they are as short as the column are numbered.
void tell_apart(Setting& setting) {
  std::map<std::string, std::map<std::string_view, std::size_t>> kernels;  // by what is shown: whole name -> number
  std::vector<std::pair<const std::string*, std::size_t>> numbers;         // of each cell
  for (std::size_t i = 0; i < setting.whole_names.size(); ++i) {
    if (setting.whole_names[i] == nullptr) {
      numbers.emplace_back(nullptr, 0);
      continue;
    }
    auto& [shown, same] = *kernels.try_emplace(set_cell(setting, setting.cells[i])).first;
    numbers.emplace_back(&shown, same.try_emplace(*setting.whole_names[i], same.size() + 1).first->second);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].first == nullptr || kernels.at(*numbers[i].first).size() < 2) continue;
    const std::string number = fmt::format(" #{}", numbers[i].second);
    setting.cells[i] = shorten_middle(setting.cells[i], setting.width - std::min(setting.width, number.size())) + number;
  }
}

template <typename CellOf>
std::string set_line(const std::vector<Setting>& settings, CellOf cell_of) {
  std::string text;
  for (const Setting& setting : settings) text += (text.empty() ? "" : std::string(kGap, ' ')) + cell_of(setting);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string set_headings(const std::vector<Setting>& settings, const Page& page) {
  std::size_t lines = 0;
  for (const Setting& setting : settings) lines = std::max(lines, setting.heading.size());
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    text += bold(set_line(settings,
                          [&](const Setting& setting) {
                            const std::size_t above = lines - setting.heading.size();
                            return set_cell(setting, line < above ? "" : setting.heading[line - above]);
                          }),
                 page) +
            "\n";
  }
  return text + set_line(settings, [](const Setting& setting) { return std::string(setting.width, '-'); }) + "\n";
}

std::string left_out_text(std::size_t rows, std::size_t columns, bool asked, const Page& page) {
  std::string text;
  if (rows > 0) text = fmt::format("and {} (--top 0 shows all)", counted(rows, "more row", "more rows"));
  if (columns > 0) {
    text += fmt::format("{}{} ({}--format csv has all)", text.empty() ? "" : "; ",
                        counted(columns, "more column", "more columns"), asked ? "" : "--columns picks, ");
  }
  return text.empty() ? "" : wrap(text, page.width, 0, 0) + "\n";
}

struct SetTable {
  std::string text;
  std::size_t columns = 0;  // that are on the page
};

// The names that belong to a column; none where it names no kernels.
WholeNames whole_names(const Rows& rows, std::size_t column) {
  WholeNames names;
  if (!rows.kernels || rows.kernels->column != column) return names;
  names.reserve(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) names.push_back(rows.kernels->whole_name(i));
  return names;
}

SetTable set_table(const Rows& rows, const Positions& shown, const std::optional<std::size_t>& direction, bool with_empty,
                   const Page& page) {
  const Table table = to_table(rows);
  std::vector<Setting> settings;
  for (const auto& [column, heading] : shown) {
    settings.push_back(set_column(table, column, heading, whole_names(rows, column), direction));
    if (!with_empty && !table.rows.empty() && settings.back().is_empty()) settings.pop_back();
  }
  if (with_empty) {
    for (Setting& setting : settings) setting.least_words = std::min(setting.least_words, kLeastAsked);
  }
  fit(settings, page.width);
  std::for_each(settings.begin(), settings.end(), tell_apart);
  std::string text = set_headings(settings, page);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text += set_line(settings, [row](const Setting& setting) { return set_cell(setting, setting.cells[row]); }) + "\n";
  }
  if (table.rows.empty()) text += "nothing to show\n";
  return {text, settings.size()};
}

// Takes the column of directions out of those that are shown, where one names the ops that they are of.
std::optional<std::size_t> take_direction(const Rows& rows, Positions& shown) {
  const auto find = [&](auto is_it) {
    return std::find_if(shown.begin(), shown.end(), [&](const auto& one) { return is_it(rows.columns[one.first].name); });
  };
  const auto direction = find([](const std::string& name) { return name == "Direction"; });
  if (direction == shown.end() || find(names_ops) == shown.end()) return std::nullopt;
  const std::size_t column = direction->first;
  shown.erase(direction);
  return column;
}

}  // namespace

Positions positions(const Rows& rows, std::span<const PeopleColumn> columns) {
  Positions found;
  for (const PeopleColumn& one : columns) {
    const auto at = std::find_if(rows.columns.begin(), rows.columns.end(),
                                 [&one](const Column& column) { return column.name == one.column; });
    if (at != rows.columns.end()) found.emplace_back(static_cast<std::size_t>(at - rows.columns.begin()), one.heading);
  }
  return found;
}

std::string people_text(const Cell& cell, std::string_view unit) {
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  if (const auto* value = std::get_if<std::uint64_t>(&cell))
    return unit == kAddressUnit ? fmt::format("{:#x}", *value) : short_quantity(static_cast<double>(*value), unit);
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return short_quantity(static_cast<double>(*value), unit);
  if (const auto* value = std::get_if<double>(&cell)) return short_quantity(*value, unit);
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "" : printable(*text);
}

std::string people_rows(const Rows& rows, std::span<const PeopleColumn> columns, const Page& page) {
  return set_table(rows, positions(rows, columns), std::nullopt, false, page).text;
}

std::string people_table(const Rows& rows, const Choice& choice, std::span<const PeopleColumn> columns, const Page& page) {
  Choice complete = choice;
  if (!complete.top) complete.top = kRowsForPeople;
  const ChosenRows chosen = choose(rows, complete);
  auto shown = positions(chosen.rows, columns);
  const bool asked = !choice.columns.empty();
  if (asked || shown.empty()) {
    shown.clear();
    for (std::size_t i = 0; i < chosen.rows.columns.size(); ++i) shown.emplace_back(i, nullptr);
  }
  const std::optional<std::size_t> direction = asked ? std::nullopt : take_direction(chosen.rows, shown);
  const SetTable set = set_table(chosen.rows, shown, direction, asked, page);
  const std::size_t hidden = (asked ? chosen.rows.columns.size() : rows.columns.size()) - set.columns - (direction ? 1 : 0);
  std::string text = set.text;
  if (chosen.rows.count == 0 && rows.count > 0) text.insert(text.size() - 1, ": no kernel or op has such a name");
  return text + left_out_text(chosen.left_out, hidden, asked, page);
}

}  // namespace dlkprof::report
