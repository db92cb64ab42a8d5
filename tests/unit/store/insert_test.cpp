#include "store/insert.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "store/timeline_rows.h"
#include "support/temporary_directory.h"

namespace dlkprof::store::insert_test {
namespace {

// Into tables thread and pc_stall.
class InsertTest : public testing::Test {
 protected:
  InsertTest() : connection_(make_file(), Access::build) {
    for (const Table& table : {table_of<model::Thread>(), table_of<model::PcStall>()}) connection_.run(create_statement(table));
  }

  [[nodiscard]] Connection& connection() { return connection_; }

 private:
  [[nodiscard]] std::filesystem::path make_file() const {
    std::filesystem::path path = directory_.path() / "a.sqlite";
    std::ofstream{path};
    return path;
  }

  test::TemporaryDirectory directory_;
  Connection connection_;
};

TEST_F(InsertTest, WritesAnyNumberOfRows) {
  for (const std::uint32_t count : {0, 1, 31, 32, 33, 64, 1000}) {
    connection().run("DELETE FROM thread");
    InsertMany<model::Thread> rows(connection());
    for (std::uint32_t i = 0; i < count; ++i) rows.add({2 * i, 3 * i});
    rows.finish();
    rows.finish();
    EXPECT_EQ(connection().number("SELECT count(*) FROM thread"), count);
    EXPECT_EQ(connection().number("SELECT count(*) FROM thread WHERE process = 2 * id AND tid = 3 * id"), count);
  }
}

TEST_F(InsertTest, ManyRowsAreTheSameAsRowsOneByOne) {
  const std::vector<model::PcStall> stalls{{0, 1, 2, 3}, {1, 0, std::numeric_limits<std::uint64_t>::max(), 4}};
  insert_many(connection(), stalls);
  connection().run("CREATE TABLE many AS SELECT * FROM pc_stall");
  connection().run("DELETE FROM pc_stall");
  insert_all(connection(), stalls);
  EXPECT_EQ(connection().number("SELECT count(*) FROM (SELECT * FROM many INTERSECT SELECT * FROM pc_stall)"), 2);
  EXPECT_EQ(connection().number("SELECT max(samples) FROM many"), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace dlkprof::store::insert_test
