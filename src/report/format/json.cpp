#include "report/format/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace dlkprof::report {
namespace {

void add_escaped(std::string& out, std::string_view bytes, char32_t c) {
  if (c == U'"' || c == U'\\') {
    out += '\\';
    out += bytes;
  } else if (is_control(c)) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(c));
  } else {
    out += bytes;
  }
}

// Nearly all text there is: it goes out as it is.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\'; });
}

std::string units_of(const Rows& rows) {
  std::string text;
  for (const Column& column : rows.columns) {
    if (column.unit.empty()) continue;
    if (!text.empty()) text += ", ";
    add_json_text(text, column.name);
    text += ": ";
    add_json_text(text, column.unit);
  }
  return text;
}

}  // namespace

void add_json_text(std::string& out, std::string_view text) {
  out += '"';
  if (is_plain(text)) {
    out += text;
  } else {
    for_each_code_point(text, [&out](std::string_view bytes, char32_t c) { add_escaped(out, bytes, c); });
  }
  out += '"';
}

void add_json(std::string& out, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return add_json_text(out, *text);
  const std::size_t begin = out.size();
  add_cell_text(out, cell);
  if (out.size() == begin) {
    out += "null";
  } else if (std::holds_alternative<double>(cell) && out.find_first_not_of("-0123456789", begin) == out.npos) {
    out += ".0";  // stays a number with a fraction, for readers that tell the two apart
  }
}

void write_json(const Rows& rows, const Sink& sink) {
  Buffer out(sink);
  out.text += "{\n  \"report\": ";
  add_json_text(out.text, rows.name);
  out.text += ",\n  \"units\": {" + units_of(rows) + "},\n  \"rows\": [";
  std::vector<std::string> keys;  // with what stands before the value
  for (const Column& column : rows.columns) {
    std::string& key = keys.emplace_back(keys.empty() ? "" : ", ");
    add_json_text(key, column.name);
    key += ": ";
  }
  std::vector<Cell> cells(rows.columns.size());
  for (std::size_t i = 0; i < rows.count; ++i) {
    rows.fill(i, cells);
    out.text += i == 0 ? "\n    {" : ",\n    {";
    for (std::size_t column = 0; column < keys.size(); ++column) {
      out.text += keys[column];
      add_json(out.text, cells[column]);
    }
    out.text += '}';
    out.drain();
  }
  out.text += rows.count == 0 ? "]\n}\n" : "\n  ]\n}\n";
  out.finish();
}

std::string to_json(const Table& table) {
  std::string text;
  write_json(rows_of(table), [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace dlkprof::report
