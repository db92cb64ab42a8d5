#include "export/nsys_rows.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "base/error.h"
#include "export/nsys_tables.h"

namespace dlkprof::exports::nsys {

bool has_table(const store::Connection& connection, const std::string& table) {
  store::Statement found = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '" + table + "'");
  return found.step();
}

Rows::Rows(const store::Connection& connection, const std::string& table, std::initializer_list<const char*> required,
           std::initializer_list<const char*> optional, const char* order) {
  if (!has_table(connection, table)) return;
  std::set<std::string, std::less<>> there;
  store::Statement columns = connection.prepare("SELECT name FROM pragma_table_info('" + table + "')");
  while (columns.step()) there.emplace(columns.text(0));
  std::string sql = "SELECT ";
  for (const char* column : required) {
    if (!there.contains(column)) {
      throw Error(fmt::format("the table {} of this file of Nsight Systems has no column {}", table, column), "",
                  "Export it again with nsys of 2023 or later: nsys export --type sqlite <report>");
    }
    sql += fmt::format("\"{}\", ", column);
  }
  for (const char* column : optional) sql += there.contains(column) ? fmt::format("\"{}\", ", column) : "NULL, ";
  sql.resize(sql.size() - 2);
  statement_.emplace(connection.prepare(sql + " FROM \"" + table + "\" ORDER BY " + order));
}

std::uint32_t Rows::number(int column, std::uint32_t otherwise) const {
  const std::int64_t value = statement_->integer(column);
  const bool fits = has(column) && 0 <= value && value <= std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  return fits ? static_cast<std::uint32_t>(value) : otherwise;
}

}  // namespace dlkprof::exports::nsys
