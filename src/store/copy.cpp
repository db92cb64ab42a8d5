#include "store/copy.h"

#include <fmt/format.h>

#include "store/database.h"
#include "store/open.h"
#include "store/schema.h"

namespace dlkprof::store {
namespace {

// Cells that the schema does not expect are for it to refuse: NOT NULL is checked as each row goes in.
void copy_rows(const Connection& from, const Connection& to, const Table& table, const std::string& condition) {
  Statement rows = select_all(from, table, condition);
  Statement insert = insert_into(to, table);
  while (rows.step()) insert.run_row(rows);
}

}  // namespace

void copy_newest(const std::filesystem::path& from, Connection& to) {
  const OpenDatabase source = open_ours(from, Access::read);
  Transaction transaction(to);
  create_schema(to);
  for (const Table& table : timeline_tables()) copy_rows(source.connection, to, table, "1");
  const std::int64_t newest = source.connection.number("SELECT max(id) FROM aggregation");
  for (const Table& table : aggregation_tables()) {
    const char* key = table.name == "aggregation" ? "id" : "aggregation";
    copy_rows(source.connection, to, table, fmt::format("{} = {}", key, newest));
  }
  transaction.commit();
}

}  // namespace dlkprof::store
