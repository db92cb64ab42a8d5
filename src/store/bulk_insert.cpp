#include "store/bulk_insert.h"

namespace dlkprof::store {
namespace {

// From here on more rows save nothing.
constexpr std::size_t kRowsAtOnce = 32;

}  // namespace

BulkInsert::BulkInsert(const Connection& connection, const Table& table)
    : connection_(connection),
      table_(table),
      cells_at_once_(kRowsAtOnce * table.columns.size()),
      statement_(insert_into(connection, table, kRowsAtOnce)) {
  cells_.reserve(cells_at_once_);
}

void BulkInsert::finish() {
  if (cells_.empty()) return;
  Statement rest = insert_into(connection_, table_, cells_.size() / table_.columns.size());
  flush(rest);
}

void BulkInsert::flush(Statement& statement) {
  statement.run_integers(cells_);
  cells_.clear();
}

}  // namespace dlkprof::store
