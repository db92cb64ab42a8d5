// Rows of numbers for the large tables, many by one statement. While that runs, SQLite goes on from the row before; otherwise it
// looks for the place of each from the root of the table, which takes the longer the more there are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/schema.h"

namespace dlkprof::store {

class BulkInsert {
 public:
  BulkInsert(const Connection& connection, const Table& table);

  // A number, an enumerator or an optional number for each column of a row. Rows come in the order of their key.
  template <typename... Values>
  void add(const Values&... values) {
    (cells_.push_back(integer_cell(values)), ...);
    if (cells_.size() >= cells_at_once_) flush(statement_);
  }

  // Writes the rows that are left. What is added afterwards needs another finish().
  void finish();

 private:
  void flush(Statement& statement);

  const Connection& connection_;
  const Table& table_;
  std::size_t cells_at_once_;
  Statement statement_;
  std::vector<std::optional<std::int64_t>> cells_;
};

}  // namespace dlkprof::store
