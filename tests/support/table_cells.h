// Looking into tables by the names of their columns.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "report/format/table.h"

namespace dlkprof::test {

inline bool has_column(const report::Table& table, const std::string& name) {
  for (const report::Column& column : table.columns) {
    if (column.name == name) return true;
  }
  return false;
}

inline report::Cell cell(const report::Table& table, std::size_t row, const std::string& name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row)[i];
  }
  ADD_FAILURE() << "there is no column " << name;
  return {};
}

}  // namespace dlkprof::test
