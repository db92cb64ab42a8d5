// Rows on their way into their table, as cells.h lists their columns.
#pragma once

#include <string>
#include <vector>

#include "store/bulk_insert.h"
#include "store/cells.h"

namespace dlkprof::store {

template <typename Row>
class Insert {
 public:
  explicit Insert(const Connection& connection, std::uint64_t aggregation = 0)
      : statement_(insert_into(connection, table_of<Row>())), place_{aggregation} {}
  void add(const Row& row) {
    with_cells(row, place_, [this](const auto&... values) { statement_.run(values...); });
    ++place_.row;
  }

 private:
  Statement statement_;
  Place place_;
};

// The same for large tables of numbers alone.
template <typename Row>
class InsertMany {
 public:
  explicit InsertMany(const Connection& connection, std::uint64_t aggregation = 0)
      : rows_(connection, table_of<Row>()), place_{aggregation} {}
  void add(const Row& row) {
    with_cells(row, place_, [this](const auto&... values) { rows_.add(values...); });
    ++place_.row;
  }
  void finish() { rows_.finish(); }  // after the last row

 private:
  BulkInsert rows_;
  Place place_;
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
