// Rows on their way into their table, as cells.h lists their columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/cells.h"

namespace dlkprof::store {

template <typename Row>
class Insert {
 public:
  explicit Insert(const Connection& connection, std::uint64_t aggregation = 0)
      : statement_(insert_into(connection, table_of<Row>())), place_{aggregation} {}
  void add(const Row& row) {
    with_values(row, place_, [this](const auto&... values) { statement_.run(values...); });
    ++place_.row;
  }

 private:
  Statement statement_;
  Place place_;
};

// The same for large tables of numbers alone: many rows by one statement. While that runs, SQLite goes on from the row before;
// otherwise it looks for the place of each row from the root of the table, which takes the longer the more rows there are.
template <typename Row>
class InsertMany {
 public:
  explicit InsertMany(const Connection& connection, std::uint64_t aggregation = 0)
      : connection_(connection), statement_(insert_into(connection, table_of<Row>(), kRowsAtOnce)), place_{aggregation} {}
  // Rows come in the order of their key.
  void add(const Row& row) {
    with_values(row, place_, [this](const auto&... values) {
      std::size_t cell = cells_.size();
      cells_.resize(cell + sizeof...(values));
      ((cells_[cell++] = integer_cell(values)), ...);  // in place: to push each back takes a tenth of all time
    });
    if (++place_.row % kRowsAtOnce == 0) flush(statement_);
  }
  // Writes the rows that are left, after the last one.
  void finish() {
    if (cells_.empty()) return;
    Statement rest = insert_into(connection_, table_of<Row>(), place_.row % kRowsAtOnce);
    flush(rest);
  }

 private:
  static constexpr std::size_t kRowsAtOnce = 32;  // more save nothing

  void flush(Statement& statement) {
    statement.run_integers(cells_);
    cells_.clear();
  }

  const Connection& connection_;
  Statement statement_;
  Place place_;
  std::vector<std::optional<std::int64_t>> cells_;
};

template <typename Row>
void insert_all(const Connection& connection, const std::vector<Row>& rows, std::uint64_t aggregation = 0) {
  Insert<Row> insert(connection, aggregation);
  for (const Row& row : rows) insert.add(row);
}
// For rows that are one text.
template <typename Row>
void insert_texts(const Connection& connection, const std::vector<std::string>& texts) {
  Insert<Row> insert(connection);
  for (const std::string& text : texts) insert.add({text});
}
template <typename Row>
void insert_many(const Connection& connection, const std::vector<Row>& rows) {
  InsertMany<Row> insert(connection);
  for (const Row& row : rows) insert.add(row);
  insert.finish();
}

}  // namespace dlkprof::store
