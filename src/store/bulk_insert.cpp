#include "store/bulk_insert.h"

#include "store/schema.h"

namespace dlkprof::store {
namespace {

// From here on more rows save nothing.
constexpr std::size_t kRowsAtOnce = 32;

}  // namespace

BulkInsert::BulkInsert(const Connection& connection, std::string_view name)
    : connection_(connection),
      table_(name),
      columns_(table(name).columns.size()),
      cells_at_once_(kRowsAtOnce * columns_),
      statement_(insert_into(connection, name, kRowsAtOnce)) {
  cells_.reserve(cells_at_once_);
}

void BulkInsert::finish() {
  if (cells_.empty()) return;
  Statement rest = insert_into(connection_, table_, cells_.size() / columns_);
  flush(rest);
}

void BulkInsert::flush(Statement& statement) {
  statement.run_integers(cells_);
  cells_.clear();
}

}  // namespace dlkprof::store
