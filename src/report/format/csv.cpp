#include "report/format/csv.h"

#include <algorithm>

#include "base/text.h"

namespace dlkprof::report {
namespace {

// Nearly all text there is: it goes out as it is.
bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return byte >= ' ' && byte < 0x7f && byte != ',' && byte != '"'; });
}

std::string clean(const std::string& text) {
  std::string out;
  for_each_code_point(text, [&out](std::string_view bytes, char32_t c) {
    const bool kept = c == U'\n' || c == U'\t' || !is_control(c);
    out += kept ? bytes : std::string_view("\xEF\xBF\xBD");
  });
  return out;
}

void add_field(std::string& out, const std::string& text) {
  if (is_plain(text)) {
    out += text;
    return;
  }
  const std::string value = clean(text);
  if (value.find_first_of(",\"\n") == std::string::npos) {
    out += value;
    return;
  }
  out += '"';
  for (const char byte : value) {
    if (byte == '"') out += '"';
    out += byte;
  }
  out += '"';
}

}  // namespace

void write_csv(const Rows& rows, const Sink& sink) {
  Buffer out(sink);
  const char* separator = "";
  for (const Column& column : rows.columns) {
    out.text += separator;
    add_field(out.text, column.name);
    separator = ",";
  }
  out.text += "\r\n";
  std::vector<Cell> cells(rows.columns.size());
  for (std::size_t i = 0; i < rows.count; ++i) {
    rows.fill(i, cells);
    separator = "";
    for (const Cell& cell : cells) {
      out.text += separator;
      if (const auto* text = std::get_if<std::string>(&cell)) {
        add_field(out.text, *text);
      } else {
        add_cell_text(out.text, cell);
      }
      separator = ",";
    }
    out.text += "\r\n";
    out.drain();
  }
  out.finish();
}

std::string to_csv(const Table& table) {
  std::string text;
  write_csv(rows_of(table), [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace dlkprof::report
