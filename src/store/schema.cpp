#include "store/schema.h"

#include <fmt/format.h>

#include <array>

#include "model/names.h"
#include "store/database.h"

namespace dlkprof::store {
namespace {

constexpr std::array kTypeNames{"INTEGER", "REAL", "TEXT", "BLOB"};

std::string key_of(const Table& table) {
  std::string key;
  for (std::size_t i = 0; i < table.keys; ++i) key += (i == 0 ? "" : ", ") + table.columns[i].name;
  return key;
}

// A cell of a markdown table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '|') out += '\\';
    out += byte;
  }
  return out;
}

std::string describe(const Table& table) {
  std::string text = fmt::format("\n### {}\n\n{} Key: {}.\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n",
                                 table.name, table.meaning, key_of(table));
  for (const Column& column : table.columns) {
    text += fmt::format("| `{}` | {}{} | {} | {} |\n", column.name, model::name_in(kTypeNames, column.type),
                        column.nullable ? " or NULL" : "", cell(column.unit), cell(column.meaning));
  }
  return text;
}

std::string describe(const View& view) {
  std::string text = fmt::format("\n### {}\n\n{}\n\n| column | unit | meaning |\n| --- | --- | --- |\n", view.name, view.meaning);
  for (const ViewColumn& column : view.columns)
    text += fmt::format("| `{}` | {} | {} |\n", column.name, cell(column.unit.value_or("")), cell(column.meaning.value_or("")));
  return text;
}

constexpr std::size_t kLineLength = 120;

// `names[at]` and those that follow as one where they are a total with its average, minimum and maximum; how many they are.
std::size_t count_of_statistics(const std::vector<std::string>& names, std::size_t at, std::string& word) {
  constexpr std::string_view kTotal = "total_ns";
  if (!names[at].ends_with(kTotal) || at + 4 > names.size()) return 1;
  const std::string stem = names[at].substr(0, names[at].size() - kTotal.size());
  if (names[at + 1] != stem + "avg_ns" || names[at + 2] != stem + "min_ns" || names[at + 3] != stem + "max_ns") return 1;
  word = stem + "{total,avg,min,max}_ns";
  return 4;
}

// The names of the columns in lines.
std::string list_columns(const std::vector<ViewColumn>& columns) {
  std::vector<std::string> names;
  for (const ViewColumn& column : columns) names.push_back(column.name);
  std::string text, line;
  for (std::size_t i = 0; i < names.size();) {
    std::string word = names[i];
    i += count_of_statistics(names, i, word);
    if (!line.empty() && line.size() + 1 + word.size() > kLineLength) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line + "\n";
}

constexpr const char* kIntroduction =
    R"(A database of dlkprof, `<base_name>_dldb.sqlite`, is one SQLite file of application id {:#x} ("DLKP"), schema version
{} (`PRAGMA user_version`). It holds everything that the captures of a run hold, except raw counters, and what folding made
of it. Each folding, with its key node, NVTX domains and range of iterations, adds an aggregation; the figures of earlier
aggregations stay.
)";

constexpr const char* kViews =
    R"(
## Views

Write your own queries for the views: they keep their names and columns when the tables beneath them change. They show the
newest aggregation. Join them by `op_id`, which names an op in every view, and by `kernel` and `config`, because several
kernels may share a short name.

```sql
SELECT op_name, direction, gpu_total_ns FROM detail ORDER BY gpu_total_ns DESC LIMIT 10
```
)";

constexpr const char* kPage =
    R"(# The database

Generated from the code that writes it (`DLKPROF_REGENERATE=1 store_test`); a test compares the two. `dlkprof help schema`
prints the unit and the meaning of every column, and the tables beneath the views, which may change with the schema version.

)";

constexpr const char* kPageEnd =
    R"(
`gpu_{total,avg}_ns` stands for `gpu_total_ns` and `gpu_avg_ns`. Columns that end in `_ns` are nanoseconds, those that end in `_pct`
per cent; times of day are CLOCK_MONOTONIC. NULL means that something was not measured or is not known. The [cookbook](../user/cookbook.md) answers the usual questions with these views.
)";

}  // namespace

bool is_numbered(const Table& table) { return table.keys == 1 && table.columns.front().name == "id"; }

std::string create_statement(const Table& table) {
  std::string columns;
  for (const Column& column : table.columns) {
    const bool rowid = is_numbered(table) && column.name == "id";
    const char* suffix = rowid ? " PRIMARY KEY" : column.nullable ? "" : " NOT NULL";
    columns +=
        fmt::format("{}{} {}{}", columns.empty() ? "" : ", ", column.name, model::name_in(kTypeNames, column.type), suffix);
  }
  if (is_numbered(table)) return fmt::format("CREATE TABLE {} ({})", table.name, columns);
  return fmt::format("CREATE TABLE {} ({}, PRIMARY KEY ({})) WITHOUT ROWID", table.name, columns, key_of(table));
}

std::string create_statement(const View& view) {
  std::string columns;
  for (const ViewColumn& column : view.columns)
    columns += fmt::format("{}{} AS {}", columns.empty() ? "" : ", ", column.expression, column.name);
  return fmt::format("CREATE VIEW {} AS SELECT {} {}", view.name, columns, view.from);
}

void create_schema(Connection& connection) {
  connection.run("PRAGMA application_id=" + std::to_string(kApplicationId));
  connection.run("PRAGMA user_version=" + std::to_string(kSchemaVersion));
  for (const Table& table : timeline_tables()) connection.run(create_statement(table));
  for (const Table& table : aggregation_tables()) connection.run(create_statement(table));
  for (const View& view : views()) connection.run(create_statement(view));
}

Statement insert_into(const Connection& connection, const Table& table, std::size_t rows) {
  std::string row = "(?";
  for (std::size_t i = 1; i < table.columns.size(); ++i) row += ",?";
  row += ")";
  std::string all = row;
  for (std::size_t i = 1; i < rows; ++i) all += "," + row;
  return connection.prepare(fmt::format("INSERT INTO {} VALUES {}", table.name, all));
}

Statement select_all(const Connection& connection, const Table& table, std::string_view condition) {
  std::string columns;
  for (const Column& column : table.columns) columns += (columns.empty() ? "" : ", ") + column.name;
  return connection.prepare(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY {}", columns, table.name, condition, key_of(table)));
}

std::string describe_schema() {
  std::string text = "# The database\n\n" + fmt::format(kIntroduction, kApplicationId, kSchemaVersion) + kViews;
  for (const View& view : views()) text += describe(view);
  text += "\n## Tables of the timeline\n\nWhat captures say. Ids that count from 0 have no gaps.\n";
  for (const Table& table : timeline_tables()) text += describe(table);
  text += "\n## Tables of aggregations\n\nWhat folding the timeline gave, each row with the id of its aggregation.\n";
  for (const Table& table : aggregation_tables()) text += describe(table);
  return text;
}

std::string list_schema() {
  std::string text = kPage + fmt::format(kIntroduction, kApplicationId, kSchemaVersion) + kViews + kPageEnd;
  for (const View& view : views())
    text += fmt::format("\n### {}\n\n{}\n\n```text\n{}```\n", view.name, view.meaning, list_columns(view.columns));
  return text;
}

}  // namespace dlkprof::store
