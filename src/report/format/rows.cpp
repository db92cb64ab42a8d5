#include "report/format/rows.h"

namespace dlkprof::report {

Rows rows_of(const Table& table) {
  return {table.name, table.columns, table.rows.size(),
          [&table](std::size_t row, std::vector<Cell>& cells) { cells = table.rows[row]; }};
}

Table to_table(const Rows& rows) {
  Table table{rows.name, rows.columns, std::vector<std::vector<Cell>>(rows.count)};
  for (std::size_t i = 0; i < rows.count; ++i) {
    table.rows[i].resize(rows.columns.size());
    rows.fill(i, table.rows[i]);
  }
  return table;
}

}  // namespace dlkprof::report
