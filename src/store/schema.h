// The schema as data: which tables and views there are, their columns, units and meanings. Tables are made from the lists of
// columns of their rows (cells.h). The CREATE statements, the statements that fill and read tables, and docs/reference/schema.md
// come from here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"

namespace dlkprof::store {

inline constexpr int kApplicationId = 0x444c4b50;  // "DLKP"; in the file's header

enum class ColumnType : std::uint8_t { integer, real, text, blob };

struct Column {
  std::string name;
  ColumnType type = ColumnType::integer;
  std::string unit;  // "ns", "bytes", "id of op", "0 or 1"; "" where it has none
  std::string meaning;
  bool nullable = false;
};

struct Table {
  std::string name;
  std::string meaning;
  std::vector<Column> columns;
  std::size_t keys = 1;  // so many first columns identify a row; one that is called id is the row's number
};

// Where it shows the column of a table as it is, unit and meaning are that one's unless it has its own.
struct ViewColumn {
  std::string name;
  std::string expression;  // SQL
  std::optional<std::string> unit = {}, meaning = {};
};

struct View {
  std::string name;
  std::string meaning;
  std::vector<ViewColumn> columns;
  std::string from;  // SQL from FROM on
};

// What captures say; read back by read_timeline().
[[nodiscard]] std::span<const Table> timeline_tables();
// What folding and aggregating gave, each row with the id of its aggregation.
[[nodiscard]] std::span<const Table> aggregation_tables();
[[nodiscard]] std::span<const View> views();

// Whether its first column is the number of the row.
[[nodiscard]] bool is_numbered(const Table& table);

[[nodiscard]] std::string create_statement(const Table& table);
[[nodiscard]] std::string create_statement(const View& view);
// All tables and views, in an empty database.
void create_schema(Connection& connection);
// Of so many rows at once, with a parameter for each column of each, in their order.
[[nodiscard]] Statement insert_into(const Connection& connection, const Table& table, std::size_t rows = 1);
// All columns of all rows, or of those that a condition in SQL takes, in the order of their key.
[[nodiscard]] Statement select_all(const Connection& connection, const Table& table, std::string_view condition = "1");

}  // namespace dlkprof::store
