#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace dlkprof::store {
namespace {

constexpr std::int64_t kLeastBytesOfARow = 4;

}  // namespace

Rows::Rows(Reading& reading, const Table& table, std::string_view condition)
    : reading_(reading),
      table_(table),
      statement_(select_all(reading.database.connection, table, condition)),
      counts_(table.columns.size()) {}

std::size_t Rows::count() const {
  const std::int64_t last = reading_.database.connection.number(fmt::format("SELECT max(id) FROM {}", table_.name));
  return static_cast<std::size_t>(std::clamp<std::int64_t>(last, 0, reading_.database.bytes / kLeastBytesOfARow)) + 1;
}

bool Rows::next() {
  column_ = 0;
  ++row_;
  return statement_.step();
}

std::int64_t Rows::integer(std::int64_t least, std::int64_t most) {
  const int column = column_++;
  const std::int64_t value = statement_.integer(column);
  if (statement_.type(column) != CellType::integer || value < least || value > most)
    fail_cell(column, least == most ? std::to_string(least) : fmt::format("a whole number from {} to {}", least, most));
  return value;
}

void Rows::take_reference(std::uint32_t& value, std::string_view table) {
  const std::size_t*& count = counts_.at(static_cast<std::size_t>(column_));
  if (count == nullptr) count = &reading_.counts.try_emplace(std::string(table)).first->second;
  if (*count == Reading::kLeftOut) return skip();
  if (*count == 0) fail_cell(column_, "possible: nothing is there to name");
  value = static_cast<std::uint32_t>(integer(0, static_cast<std::int64_t>(std::min<std::size_t>(*count, model::kNone)) - 1));
}

bool Rows::null() {
  if (statement_.type(column_) != CellType::null) return false;
  ++column_;
  return true;
}

void Rows::take(double& value) {
  const int column = column_++;
  if (statement_.type(column) != CellType::real) fail_cell(column, "a real number");
  value = statement_.real(column);
}

void Rows::take(std::vector<std::string>& value) {
  if (const std::string joined = text(); !joined.empty()) value = split(joined, ',');
}

std::string Rows::text() {
  const int column = column_++;
  if (statement_.type(column) != CellType::text) fail_cell(column, "text");
  const std::string_view bytes = statement_.text(column);
  reading_.text_left -= static_cast<std::int64_t>(bytes.size());
  if (reading_.text_left < 0) fail_cell(column, "of text that the file can hold");
  return is_ascii(bytes) ? std::string(bytes) : valid_utf8(bytes);
}

void Rows::take(std::vector<std::uint8_t>& value) {
  if (null()) return value.clear();
  const int column = column_++;
  if (statement_.type(column) != CellType::blob) fail_cell(column, "a blob");
  const std::span<const std::uint8_t> bytes = statement_.blob(column);
  reading_.text_left -= static_cast<std::int64_t>(bytes.size());
  if (reading_.text_left < 0) fail_cell(column, "of bytes that the file can hold");
  value.assign(bytes.begin(), bytes.end());
}

void Rows::expect_position(std::uint64_t position, std::size_t expected) const {
  if (position != expected) fail(fmt::format("position is {}, not {}", position, expected));
}

void Rows::fail_cell(int column, const std::string& wanted) const {
  static constexpr const char* kTypes[] = {"NULL", "", "a real number", "text", "a blob"};
  const CellType type = statement_.type(column);
  const std::string found =
      type == CellType::integer ? std::to_string(statement_.integer(column)) : kTypes[static_cast<std::size_t>(type)];
  fail(fmt::format("{} is {}, not {}", table_.columns.at(static_cast<std::size_t>(column)).name, found, wanted));
}

void Rows::fail(const std::string& why) const {
  throw Error("cannot read the database " + printable(reading_.database.path.native()),
              fmt::format("{}table {}: {}", row_ < 0 ? "" : fmt::format("row {} of ", row_), table_.name, why),
              "It was changed or is damaged: make it again from the captures.");
}

}  // namespace dlkprof::store
