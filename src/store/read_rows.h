// Rows on their way out of their table, as cells.h lists their columns.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/cells.h"

namespace dlkprof::store {

// Calls take(rows, row) for each row, which may fail() by `rows`.
template <typename Row, typename Take>
void read_rows(Reading& reading, const Take& take, std::string_view condition = "1") {
  const Table& table = table_of<Row>();
  std::size_t& count = reading.counts[table.name];
  Rows rows(reading, table, condition);
  for (Row row{}; next(rows, row); row = Row{}, ++count) take(rows, std::move(row));
}

// Room in `all` for the rows of a large table.
template <typename Row, typename Value>
void reserve(Reading& reading, std::vector<Value>& all) {
  all.reserve(Rows(reading, table_of<Row>()).count());
}

template <typename Row>
void read_all(Reading& reading, std::vector<Row>& all, std::string_view condition = "1") {
  read_rows<Row>(
      reading, [&all](const Rows&, Row&& row) { all.push_back(std::move(row)); }, condition);
}

// Of rows that are one text.
template <typename Row>
[[nodiscard]] std::vector<std::string> read_texts(Reading& reading) {
  std::vector<std::string> all;
  reserve<Row>(reading, all);
  read_rows<Row>(reading, [&all](const Rows&, Row&& row) { all.push_back(std::move(row.text)); });
  return all;
}

}  // namespace dlkprof::store
