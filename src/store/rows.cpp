#include "store/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "store/ascii.h"

namespace dlkprof::store {
namespace {

constexpr std::int64_t kLeastBytesOfARow = 4;

}  // namespace

Rows::Rows(const OpenDatabase& database, TextBudget& budget, std::string_view table, std::string_view condition)
    : database_(database),
      budget_(budget),
      table_(store::table(table)),
      statement_(select_all(database.connection, table, condition)) {}

std::size_t Rows::count() const {
  const std::int64_t last = database_.connection.number(fmt::format("SELECT max(id) FROM {}", table_.name));
  return static_cast<std::size_t>(std::clamp<std::int64_t>(last, 0, database_.bytes / kLeastBytesOfARow)) + 1;
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

void Rows::id() { expect(static_cast<std::uint64_t>(row_)); }

std::uint32_t Rows::index(std::size_t size) {
  constexpr std::uint32_t kLargest = model::kNone - 1;
  if (size == 0) fail_cell(column_, "possible: nothing is there to name");
  return static_cast<std::uint32_t>(integer(0, static_cast<std::int64_t>(std::min<std::size_t>(size - 1, kLargest))));
}

bool Rows::null() {
  if (statement_.type(column_) != CellType::null) return false;
  ++column_;
  return true;
}

std::uint32_t Rows::index_or_none(std::size_t size) { return null() ? model::kNone : index(size); }

std::int64_t Rows::time(std::int64_t first) { return integer(first, kLatestTime); }

double Rows::real_or_nan() {
  if (null()) return std::numeric_limits<double>::quiet_NaN();
  const int column = column_++;
  if (statement_.type(column) != CellType::real) fail_cell(column, "a real number");
  return statement_.real(column);
}

std::string Rows::text() {
  const int column = column_++;
  if (statement_.type(column) != CellType::text) fail_cell(column, "text");
  const std::string_view bytes = statement_.text(column);
  if (!budget_.take(bytes.size())) fail_cell(column, "of text that the file can hold");
  return is_ascii(bytes) ? std::string(bytes) : valid_utf8(bytes);
}

void Rows::fail_cell(int column, const std::string& wanted) const {
  static constexpr const char* kTypes[] = {"NULL", "", "a real number", "text", "a blob"};
  const CellType type = statement_.type(column);
  const std::string found =
      type == CellType::integer ? std::to_string(statement_.integer(column)) : kTypes[static_cast<std::size_t>(type)];
  fail(fmt::format("{} is {}, not {}", table_.columns.at(static_cast<std::size_t>(column)).name, found, wanted));
}

void Rows::fail(const std::string& why) const {
  throw Error("cannot read the database " + printable(database_.path.native()),
              fmt::format("row {} of table {}: {}", row_, table_.name, why),
              "It was changed or is damaged: make it again from the captures.");
}

}  // namespace dlkprof::store
