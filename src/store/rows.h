// The rows of a table as somebody's file has them, taken cell by cell, each only as what it should be.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/timeline/timeline.h"
#include "store/open.h"
#include "store/schema.h"

namespace dlkprof::store {

// What index_or_none() reads back.
[[nodiscard]] inline std::optional<std::uint32_t> or_null(std::uint32_t index) {
  return index == model::kNone ? std::nullopt : std::optional(index);
}

// Honest files hold each byte of their text once, hostile ones may point to the same bytes again and again.
class TextBudget {
 public:
  explicit TextBudget(std::int64_t bytes) : left_(bytes) {}
  // False where there is not so much left.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    left_ -= static_cast<std::int64_t>(bytes);
    return left_ >= 0;
  }

 private:
  std::int64_t left_;
};

// All functions throw Error where a cell is not as promised, naming table, row and column.
class Rows {
 public:
  // All of a table, or those that a condition in SQL takes.
  Rows(const OpenDatabase& database, TextBudget& budget, std::string_view table, std::string_view condition = "1");

  // A bound for vectors that are to hold all rows: what the file says, but no more than it can hold.
  [[nodiscard]] std::size_t count() const;

  // To the next row, and its first cell.
  [[nodiscard]] bool next();

  // Each takes one cell, from the left.
  void skip() { ++column_; }
  // The number of the row, which counts from 0.
  void id();
  // Of 0 to below `size`.
  [[nodiscard]] std::uint32_t index(std::size_t size);
  // The same, or kNone for NULL.
  [[nodiscard]] std::uint32_t index_or_none(std::size_t size);
  // A number below kNone, or kNone for NULL.
  [[nodiscard]] std::uint32_t number_or_none() { return index_or_none(model::kNone); }
  // Not before `first`. Differences of two times never overflow.
  [[nodiscard]] std::int64_t time(std::int64_t first = -kLatestTime);
  [[nodiscard]] bool null();  // takes the cell only where it is NULL
  [[nodiscard]] bool flag() { return integer(0, 1) == 1; }
  [[nodiscard]] double real_or_nan();
  [[nodiscard]] std::string text();
  template <std::integral T>
  [[nodiscard]] T number() {
    constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
    constexpr bool kWide = sizeof(T) == sizeof(std::int64_t);
    const std::int64_t least = std::is_unsigned_v<T> ? 0 : std::numeric_limits<std::int64_t>::min();
    return static_cast<T>(integer(least, kWide ? kLargest : static_cast<std::int64_t>(std::numeric_limits<T>::max())));
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  [[nodiscard]] Enum enumeration(Enum last) {
    return static_cast<Enum>(integer(0, static_cast<std::int64_t>(last)));
  }
  // A number that must be this one.
  void expect(std::uint64_t value) { (void)integer(static_cast<std::int64_t>(value), static_cast<std::int64_t>(value)); }

  [[noreturn]] void fail(const std::string& why) const;

 private:
  static constexpr std::int64_t kLatestTime = std::int64_t{1} << 62U;

  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most);
  [[noreturn]] void fail_cell(int column, const std::string& wanted) const;

  const OpenDatabase& database_;
  TextBudget& budget_;
  const Table& table_;
  Statement statement_;
  std::int64_t row_ = -1;
  int column_ = 0;
};

}  // namespace dlkprof::store
