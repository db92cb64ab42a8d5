// Columns in few words, for the tables of schema data.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "store/schema.h"

namespace dlkprof::store {

inline Column number(std::string name, std::string unit, std::string meaning) {
  return {std::move(name), ColumnType::integer, std::move(unit), std::move(meaning)};
}
inline Column real(std::string name, std::string unit, std::string meaning) {
  return {std::move(name), ColumnType::real, std::move(unit), std::move(meaning)};
}
inline Column text(std::string name, std::string meaning) { return {std::move(name), ColumnType::text, "", std::move(meaning)}; }
inline Column flag(std::string name, std::string meaning) { return number(std::move(name), "0 or 1", std::move(meaning)); }
inline Column id(std::string meaning) { return number("id", "", std::move(meaning)); }
// Names a row of another table by its id.
inline Column reference(std::string name, const std::string& table, std::string meaning) {
  return number(std::move(name), "id of " + table, std::move(meaning));
}
inline Column nullable(Column column) {
  column.nullable = true;
  return column;
}

inline std::vector<Column> concatenate(std::initializer_list<std::vector<Column>> parts) {
  std::vector<Column> all;
  for (const std::vector<Column>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace dlkprof::store
