#include "store/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace dlkprof::store::sqlite_test {
namespace {

using testing::HasSubstr;

class SqliteTest : public testing::Test {
 protected:
  SqliteTest() {
    std::ofstream{path()};
    Connection(path(), Access::build).run("CREATE TABLE t (a, b)");
  }
  [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "a.sqlite"; }

  template <typename Call>
  static std::string message_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(SqliteTest, BindsEveryKindOfValue) {
  enum class Kind : std::uint8_t { third = 3 };
  const Connection connection(path(), Access::add);
  Statement insert = connection.prepare("INSERT INTO t VALUES (?, ?)");
  insert.run(-1, true);
  insert.run(Kind::third, 2.5);
  insert.run(std::string("text"), std::optional<int>());
  Statement select = connection.prepare("SELECT a, b FROM t");
  ASSERT_TRUE(select.step());
  EXPECT_EQ(select.integer(0), -1);
  EXPECT_EQ(select.integer(1), 1);
  ASSERT_TRUE(select.step());
  EXPECT_EQ(select.integer(0), 3);
  EXPECT_EQ(select.type(1), CellType::real);
  EXPECT_EQ(select.real(1), 2.5);
  ASSERT_TRUE(select.step());
  EXPECT_EQ(select.text(0), "text");
  EXPECT_EQ(select.type(1), CellType::null);
  EXPECT_FALSE(select.step());
}

TEST_F(SqliteTest, TooFewValuesAreAMistake) {
  const Connection connection(path(), Access::add);
  EXPECT_THROW(connection.prepare("INSERT INTO t VALUES (?, ?)").run(1), std::logic_error);
}

TEST_F(SqliteTest, FailuresCarrySqlitesWords) {
  const Connection connection(path(), Access::add);
  EXPECT_THAT(message_of([&] { (void)connection.prepare("SELECT missing FROM t"); }), HasSubstr("no such column: missing"));
  EXPECT_THAT(message_of([&] { (void)Connection(path().parent_path() / "b", Access::read); }), HasSubstr("cannot"));
}

TEST_F(SqliteTest, OpenedForReadingItCannotWrite) {
  Connection connection(path(), Access::read);
  EXPECT_THAT(message_of([&] { connection.run("INSERT INTO t VALUES (1, 2)"); }), HasSubstr("readonly"));
}

TEST_F(SqliteTest, TransactionsThatAreNotCommittedAreUndone) {
  Connection connection(path(), Access::add);
  {
    const Transaction transaction(connection);
    connection.run("INSERT INTO t VALUES (1, 2)");
  }
  EXPECT_EQ(connection.number("SELECT count(*) FROM t"), 0);
  Transaction transaction(connection);
  connection.run("INSERT INTO t VALUES (1, 2)");
  transaction.commit();
  EXPECT_EQ(connection.number("SELECT count(*) FROM t"), 1);
}

TEST_F(SqliteTest, CallsNowAndThenWhereverTheConnectionIs) {
  int calls = 0;
  Connection made(path(), Access::build);
  made.now_and_then([&calls] { ++calls; });
  Connection connection = std::move(made);
  connection.run(
      "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i, i FROM n");
  EXPECT_GT(calls, 0);
  EXPECT_EQ(connection.number("SELECT count(*) FROM t"), 300000);
}

TEST_F(SqliteTest, TextLongerThanTheLimitIsRefused) {
  Connection connection(path(), Access::add);
  connection.run("INSERT INTO t VALUES (zeroblob(5000), 1)");
  connection.limit_length(4096);
  Statement select = connection.prepare("SELECT a FROM t");
  EXPECT_THAT(message_of([&] { (void)select.step(); }), HasSubstr("too big"));
}

TEST_F(SqliteTest, WhoAsksCanReadAndDoNothingElse) {
  Connection(path(), Access::build).run("CREATE VIEW v AS SELECT 1 AS one");
  Connection connection(path(), Access::ask);
  connection.answer_only();
  EXPECT_EQ(connection.number("SELECT one FROM v"), 1);
  EXPECT_EQ(connection.number("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT sum(i) FROM n"),
            45);
  for (const char* sql : {"INSERT INTO t VALUES (1, 2)", "ATTACH '/etc/passwd' AS p", "PRAGMA query_only = OFF", "DROP TABLE t",
                          "CREATE TEMP TABLE x (y)", "VACUUM INTO '/tmp/copy'", "BEGIN", "SELECT load_extension('x')"})
    EXPECT_THAT(message_of([&] { connection.run(sql); }), HasSubstr("cannot read")) << sql;
}

TEST_F(SqliteTest, StopsWhatHasNoEnd) {
  Connection connection(path(), Access::ask);
  int asked = 0;
  connection.stop_when([&asked] { return ++asked > 2; });
  EXPECT_THAT(message_of([&] {
                (void)connection.number("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
              }),
              HasSubstr("interrupted"));
}

TEST_F(SqliteTest, SaysWhatFollowsTheFirstStatement) {
  const Connection connection(path(), Access::ask);
  std::string_view rest;
  (void)connection.prepare("SELECT 1; SELECT 2", &rest);
  EXPECT_EQ(rest, " SELECT 2");
  EXPECT_THAT(message_of([&] { (void)connection.prepare(" -- nothing"); }), HasSubstr("no SQL statement"));
}

}  // namespace
}  // namespace dlkprof::store::sqlite_test
