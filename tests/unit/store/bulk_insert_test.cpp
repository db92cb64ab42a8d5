#include "store/bulk_insert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <stdexcept>

#include "store/timeline_rows.h"
#include "support/temporary_directory.h"

namespace dlkprof::store::bulk_insert_test {
namespace {

using testing::ElementsAre;

// Into table thread, which has columns id, process and tid.
class BulkInsertTest : public testing::Test {
 protected:
  BulkInsertTest() : connection_(make_file(), Access::build) { connection_.run(create_statement(table_of<model::Thread>())); }

  [[nodiscard]] std::vector<std::int64_t> column(int column) const {
    std::vector<std::int64_t> values;
    Statement rows = select_all(connection_, table_of<model::Thread>());
    while (rows.step()) values.push_back(rows.integer(column));
    return values;
  }

  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  [[nodiscard]] std::filesystem::path make_file() const {
    std::filesystem::path path = directory_.path() / "a.sqlite";
    std::ofstream{path};
    return path;
  }

  test::TemporaryDirectory directory_;
  Connection connection_;
};

TEST_F(BulkInsertTest, WritesAnyNumberOfRows) {
  std::int64_t id = 0;
  for (const int more : {0, 1, 31, 32, 33, 64, 1000}) {
    BulkInsert rows(connection(), table_of<model::Thread>());
    for (int i = 0; i < more; ++i, ++id) rows.add(id, 2 * id, 3 * id);
    rows.finish();
    rows.finish();
    EXPECT_EQ(connection().number("SELECT count(*) FROM thread"), id);
  }
  EXPECT_EQ(connection().number("SELECT count(*) FROM thread WHERE process = 2 * id AND tid = 3 * id"), id);
}

TEST_F(BulkInsertTest, TakesWhatAStatementTakes) {
  enum class Kind : std::uint8_t { third = 3 };
  BulkInsert rows(connection(), table_of<model::Thread>());
  rows.add(0, true, Kind::third);
  rows.add(1, std::optional(5), std::numeric_limits<std::uint64_t>::max());
  rows.finish();
  EXPECT_THAT(column(1), ElementsAre(1, 5));
  EXPECT_THAT(column(2), ElementsAre(3, std::numeric_limits<std::int64_t>::max()));
}

TEST_F(BulkInsertTest, TooFewValuesAreAMistake) {
  BulkInsert rows(connection(), table_of<model::Thread>());
  rows.add(0, 1);
  EXPECT_THROW(rows.finish(), std::logic_error);
}

}  // namespace
}  // namespace dlkprof::store::bulk_insert_test
