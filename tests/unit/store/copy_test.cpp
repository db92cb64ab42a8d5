#include "store/copy.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "database_fixture.h"

namespace dlkprof::store::copy_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CopyTest : public DatabaseTest {
 protected:
  // The rows that a question gets of the copy, of its first column.
  [[nodiscard]] std::vector<std::string> copied(std::string_view sql) const {
    std::filesystem::remove(in("copy.sqlite"));
    { const UniqueFd file = create_private(in("copy.sqlite")); }
    Connection copy(in("copy.sqlite"), Access::build);
    copy_newest(path(), copy);
    std::vector<std::string> all;
    Statement statement = copy.prepare(sql);
    while (statement.step()) all.emplace_back(statement.text(0));
    return all;
  }
};

TEST_F(CopyTest, ViewsOfTheCopyShowWhatThoseOfTheDatabaseShow) {
  write();
  for (const char* sql : {"SELECT op_id || calls || gpu_total_ns FROM detail", "SELECT kernel_name || gpu_ns FROM kernels",
                          "SELECT message FROM ranges", "SELECT duration_ns FROM iterations"}) {
    EXPECT_EQ(copied(sql), rows(sql)) << sql;
    EXPECT_FALSE(rows(sql).empty()) << sql;
  }
}

TEST_F(CopyTest, OnlyTheNewestAggregationIsCopied) {
  write();
  profile_.range.start = 0;
  ASSERT_TRUE(add_aggregation(path(), profile_, diagnosis_).is_new);
  EXPECT_THAT(copied("SELECT id FROM aggregation"), ElementsAre("2"));
  EXPECT_THAT(copied("SELECT DISTINCT aggregation FROM op"), ElementsAre("2"));
}

TEST_F(CopyTest, NothingOfAHostileSchemaComesAlong) {
  write();
  run("DROP VIEW detail");
  run("CREATE VIEW detail AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS op_id FROM n");
  run("CREATE TABLE more (x)");
  run("CREATE TRIGGER one AFTER INSERT ON op BEGIN DELETE FROM op; END");
  EXPECT_THAT(copied("SELECT name FROM sqlite_schema WHERE name IN ('more', 'one')"), IsEmpty());
  EXPECT_FALSE(copied("SELECT op_id FROM detail").empty());
}

TEST_F(CopyTest, CellsAreTextThatIsValidOrNumbers) {
  write();
  run("UPDATE kernel SET name = CAST(x'61ff62' AS TEXT)");
  EXPECT_THAT(copied("SELECT DISTINCT name FROM kernel"), ElementsAre("a\xEF\xBF\xBD"
                                                                      "b"));
  run("UPDATE kernel SET name = x'00'");
  EXPECT_THAT(message_of([this] { (void)copied("SELECT 1"); }), HasSubstr("NOT NULL"));
}

TEST_F(CopyTest, MachineCodeStaysBehind) {
  write();
  EXPECT_THAT(rows("SELECT length(zstd_elf) FROM pc_code"), ElementsAre("4"));
  EXPECT_THAT(copied("SELECT id FROM pc_code WHERE zstd_elf IS NULL"), ElementsAre("0"));
}

TEST_F(CopyTest, AnotherDatabaseIsRefused) {
  write();
  run("PRAGMA user_version = 99");
  EXPECT_THAT(message_of([this] { (void)copied("SELECT 1"); }), HasSubstr("version 99"));
}

}  // namespace
}  // namespace dlkprof::store::copy_test
