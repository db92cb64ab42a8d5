// Rows of a table of Nsight Systems, whose columns differ from version to version: they are asked for by name, and what is not
// there is not known.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/timeline/text_table.h"
#include "store/sqlite.h"

namespace dlkprof::exports::nsys {

class Rows {
 public:
  // `required` first, then those that may be missing, in the order in which they are read.
  Rows(const store::Connection& connection, const std::string& table, std::initializer_list<const char*> required,
       std::initializer_list<const char*> optional, const char* order = "rowid");

  // To the next row; false after the last one, and where there is no such table.
  [[nodiscard]] bool next() { return statement_ && statement_->step(); }

  [[nodiscard]] bool has(int column) const { return statement_->type(column) != store::CellType::null; }
  [[nodiscard]] std::int64_t integer(int column) const { return statement_->integer(column); }
  // Numbers below 2^32; others are `otherwise`.
  [[nodiscard]] std::uint32_t number(int column, std::uint32_t otherwise = 0) const;
  [[nodiscard]] std::string text(int column) const { return std::string(statement_->text(column)); }

 private:
  std::optional<store::Statement> statement_;
};

// Whether there is a table of that name.
[[nodiscard]] bool has_table(const store::Connection& connection, const std::string& table);

// An interval of ns that a timeline can have.
[[nodiscard]] inline bool is_interval(std::int64_t start, std::int64_t end) {
  constexpr std::int64_t kMostNs = std::int64_t{1} << 61U;  // 73 years
  return 0 <= start && start <= end && end <= kMostNs;
}

}  // namespace dlkprof::exports::nsys
