#include "report/csv.h"

#include "base/text.h"

namespace dlkprof::report {
namespace {

bool is_control(char byte) { return (static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f; }

std::string clean(const std::string& text) {
  std::string out;
  for (const char byte : valid_utf8(text)) {
    if (is_control(byte)) {
      out += "\xEF\xBF\xBD";
    } else {
      out += byte;
    }
  }
  return out;
}

std::string field(const std::string& text) {
  std::string value = clean(text);
  if (value.find_first_of(",\"\n") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char byte : value) {
    if (byte == '"') quoted += '"';
    quoted += byte;
  }
  return quoted + "\"";
}

}  // namespace

std::string to_csv(const Table& table) {
  std::string text;
  const char* separator = "";
  for (const Column& column : table.columns) {
    text += separator + field(column.name);
    separator = ",";
  }
  text += "\r\n";
  for (const std::vector<Cell>& row : table.rows) {
    separator = "";
    for (const Cell& cell : row) {
      text += separator + field(cell_text(cell));
      separator = ",";
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace dlkprof::report
