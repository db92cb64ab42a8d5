// The rows of a table as somebody's file has them, taken cell by cell, each only as what it should be.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/profile.h"
#include "store/open.h"
#include "store/schema.h"

namespace dlkprof::store {

// Differences of two times from here to its negative never overflow.
inline constexpr std::int64_t kEarliestTime = -(std::int64_t{1} << 62U);

// A database that is being read, table after table: what rows refer to has been read before them.
struct Reading {
  static constexpr std::size_t kLeftOut = std::numeric_limits<std::size_t>::max();

  explicit Reading(OpenDatabase opened) : database(std::move(opened)), text_left(database.bytes) {}
  explicit Reading(const std::filesystem::path& path) : Reading(open_ours(path, Access::read)) {}

  OpenDatabase database;
  // Bytes. Honest files hold each byte of their text once, hostile ones may point to the same bytes again and again.
  std::int64_t text_left;
  // Rows that were read of each table. kLeftOut: nothing needs that table, and references to it are skipped.
  std::map<std::string, std::size_t, std::less<>> counts;
  [[nodiscard]] bool leaves_out(std::string_view table) const {
    const auto count = counts.find(table);
    return count != counts.end() && count->second == kLeftOut;
  }
};

// All functions throw Error where a cell is not as promised, naming table, row and column.
class Rows {
 public:
  // All of a table, or those that a condition in SQL takes.
  Rows(Reading& reading, const Table& table, std::string_view condition = "1");

  // A bound for vectors that are to hold all rows: what the file says, but no more than it can hold.
  [[nodiscard]] std::size_t count() const;

  // To the next row, and its first cell.
  [[nodiscard]] bool next();

  // Each takes one cell, from the left.
  void skip() { ++column_; }
  // The number of the row, which counts from 0.
  void id() { (void)integer(row_, row_); }
  [[nodiscard]] bool null();  // takes the cell only where it is NULL
  [[nodiscard]] std::string text();
  // Not before `least`; not before the one that this function gave for the row before.
  [[nodiscard]] std::int64_t time(std::int64_t least) { return integer(least, -kEarliestTime); }
  [[nodiscard]] std::int64_t time_in_order() { return latest_ = time(latest_); }
  template <typename Enum>
  [[nodiscard]] Enum up_to(Enum last) {
    return static_cast<Enum>(integer(0, static_cast<std::int64_t>(last)));
  }
  void take_reference(std::uint32_t& value, std::string_view table);

  // By the type of what is to hold it.
  template <std::integral T>
  void take(T& value) {
    constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
    constexpr bool kWide = sizeof(T) == sizeof(std::int64_t);
    const std::int64_t least = std::is_unsigned_v<T> ? 0 : std::numeric_limits<std::int64_t>::min();
    value = static_cast<T>(integer(least, kWide ? kLargest : static_cast<std::int64_t>(std::numeric_limits<T>::max())));
  }
  void take(double& value);
  void take(std::string& value) { value = text(); }
  // A blob; empty where the cell is NULL, as in copies for the page.
  void take(std::vector<std::uint8_t>& value);
  void take(std::vector<std::string>& value);
  template <typename T>
  void take(std::optional<T>& value) {
    if (!null()) take(value.emplace());
  }

  // A number that must be this one.
  void expect_position(std::uint64_t position, std::size_t expected) const;
  [[noreturn]] void fail(const std::string& why) const;

 private:
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most);
  [[noreturn]] void fail_cell(int column, const std::string& wanted) const;

  Reading& reading_;
  const Table& table_;
  Statement statement_;
  std::vector<const std::size_t*> counts_;  // of the tables that columns refer to; null: not looked up yet
  std::int64_t row_ = -1;
  std::int64_t latest_ = kEarliestTime;
  int column_ = 0;
};

// As the functions of database.h.
[[nodiscard]] model::Timeline read_timeline(Reading& reading);
[[nodiscard]] model::Timeline read_timeline_without_ranges(Reading& reading);
[[nodiscard]] model::Profile read_stored_run(Reading& reading);

}  // namespace dlkprof::store
