#include "store/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "store/database.h"
#include "support/golden.h"

namespace dlkprof::store::schema_test {
namespace {

using testing::HasSubstr;

TEST(SchemaTest, DocumentSaysWhatTheCodeDoes) { test::expect_golden("../../../docs/reference/schema.md", list_schema()); }

TEST(SchemaTest, DescribesEveryTableViewAndColumn) {
  const std::string text = describe_schema();
  for (const View& view : views()) {
    EXPECT_THAT(text, HasSubstr("### " + view.name + "\n"));
    for (const ViewColumn& column : view.columns) EXPECT_THAT(text, HasSubstr("| `" + column.name + "` |"));
    EXPECT_THAT(list_schema(),
                HasSubstr("\n### " + view.name + "\n\n" + view.meaning + "\n\n```text\n" + view.columns.front().name));
  }
  for (const std::span<const Table> tables : {timeline_tables(), aggregation_tables()}) {
    for (const Table& table : tables) {
      EXPECT_FALSE(table.meaning.empty()) << table.name;
      EXPECT_THAT(text, HasSubstr("### " + table.name + "\n"));
    }
  }
}

TEST(SchemaTest, NamesAreUniqueAndLowerSnakeCase) {
  std::set<std::string> names;
  for (const View& view : views()) EXPECT_TRUE(names.insert(view.name).second) << view.name;
  for (const std::span<const Table> tables : {timeline_tables(), aggregation_tables()}) {
    for (const Table& table : tables) EXPECT_TRUE(names.insert(table.name).second) << table.name;
  }
  for (const std::string& name : names) EXPECT_THAT(name, testing::MatchesRegex("[a-z][a-z0-9_]*"));
}

TEST(SchemaTest, StatementsComeFromTheRows) {
  const Table numbered{"a", "", {{"id"}, {"b", ColumnType::text, "", "", true}, {"c", ColumnType::real}}};
  EXPECT_EQ(create_statement(numbered), "CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT, c REAL NOT NULL)");
  const Table keyed{"a", "", {{"x"}, {"y"}}, 2};
  EXPECT_EQ(create_statement(keyed), "CREATE TABLE a (x INTEGER NOT NULL, y INTEGER NOT NULL, PRIMARY KEY (x, y)) WITHOUT ROWID");
  const View view{"v", "", {{"n", "a.x + 1", "", ""}, {"m", "a.y", "", ""}}, "FROM a"};
  EXPECT_EQ(create_statement(view), "CREATE VIEW v AS SELECT a.x + 1 AS n, a.y AS m FROM a");
}

}  // namespace
}  // namespace dlkprof::store::schema_test
