#include "report/format/people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/text.h"

namespace dlkprof::report::people_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::array kShown{PeopleColumn{"Kernel Name", "kernel"}, PeopleColumn{"GPU Time (ns)", "GPU\ntime"},
                            PeopleColumn{"Uses TC", "tensor cores"}, PeopleColumn{"Occupancy (%)", "occupancy"}};

Table sample(std::size_t rows, const std::string& name = "gemm") {
  Table table{
      "kernel", {{"Kernel Name", ""}, {"GPU Time (ns)", "ns"}, {"Uses TC", ""}, {"Occupancy (%)", "%"}, {"Other", ""}}, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    table.rows.push_back({name, std::uint64_t{790'170'444}, true, Cell{}, std::string("x")});
  }
  return table;
}

std::string shown(const Table& table, const Choice& choice, std::size_t width) {
  return people_table(rows_of(table), choice, kShown, {.width = width, .styled = false});
}

TEST(PeopleTable, HasUnitsAndItsOwnHeadings) {
  EXPECT_EQ(shown(sample(1), {}, 80),
            "           GPU\n"
            "kernel    time  tensor cores\n"
            "------  ------  ------------\n"
            "gemm    790 ms  yes\n"
            "2 more columns (--columns picks, --format csv has all)\n");
}

TEST(PeopleTable, ShowsTwentyRowsAndCountsTheRest) {
  EXPECT_THAT(shown(sample(23), {}, 80), HasSubstr("and 3 more rows (--top 0 shows all)"));
  EXPECT_THAT(shown(sample(23), {.columns = {}, .sort = "", .top = 0, .accepts = {}}, 80), Not(HasSubstr("more rows")));
  EXPECT_THAT(shown(sample(0), {}, 80), HasSubstr("nothing to show"));
}

TEST(PeopleTable, FitsThePageAndKeepsBothEndsOfNames) {
  const Table table = sample(3, "void first" + std::string(300, 'x') + "last(\x1b[2J)");
  for (const std::size_t width : {40U, 60U, 80U, 133U}) {
    const std::string text = shown(table, {}, width);
    for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), width) << line;
    EXPECT_THAT(text, HasSubstr("void f"));
    EXPECT_THAT(text, HasSubstr("last(\\x1b[2J)"));
  }
}

TEST(PeopleTable, ShowsTheColumnsAskedForEvenWhereTheyAreEmpty) {
  const Choice choice{.columns = {"occupancy", "other"}, .sort = "", .top = 1, .accepts = {}};
  EXPECT_EQ(shown(sample(1), choice, 80),
            "Occupancy  Other\n"
            "---------  -----\n"
            "           x\n");
}

TEST(PeopleTable, IsBoldOnATerminalAlone) {
  const Table table = sample(1);
  EXPECT_THAT(people_table(rows_of(table), {}, kShown, {.width = 80, .styled = true}), HasSubstr("\033[1m"));
  EXPECT_THAT(shown(sample(1), {}, 80), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace dlkprof::report::people_test
