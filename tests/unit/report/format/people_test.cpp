#include "report/format/people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/text.h"

namespace dlkprof::report::people_test {
namespace {

using testing::AllOf;
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

TEST(PeopleText, OfAddressesIsInBase16AndNotRounded) {
  EXPECT_EQ(people_text(std::uint64_t{23216}, kAddressUnit), "0x5ab0");
  EXPECT_EQ(people_text(std::uint64_t{23216}, "byte"), "23.2 KB");
}

TEST(PeopleTable, ShowsTwentyRowsAndCountsTheRest) {
  EXPECT_THAT(shown(sample(23), {}, 80), HasSubstr("and 3 more rows (--top 0 shows all)"));
  EXPECT_THAT(shown(sample(23), {.columns = {}, .sort = "", .top = 0, .accepts = {}}, 80), Not(HasSubstr("more rows")));
  EXPECT_THAT(shown(sample(0), {}, 80), HasSubstr("nothing to show\n"));
  const auto none = [](const std::string&) { return false; };
  EXPECT_THAT(shown(sample(1), {.columns = {}, .sort = "", .top = {}, .accepts = none}, 80),
              HasSubstr("nothing to show: no kernel or op has such a name\n"));
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

TEST(PeopleTable, ShortensColumnsAskedForRatherThanLeaveThemOut) {
  const Table table{"coverage", {{"Kernel Name", ""}, {"Because", ""}}, {{std::string(60, 'k'), std::string(60, 'b')}}};
  const Choice choice{.columns = {"kernel name", "because"}, .sort = "", .top = {}, .accepts = {}};
  const std::string text = people_table(rows_of(table), choice, kShown, {.width = 40, .styled = false});
  EXPECT_THAT(text, AllOf(HasSubstr("Because"), HasSubstr("kkkk...k"), HasSubstr("bbbb...b"), Not(HasSubstr("more column"))));
  EXPECT_THAT(people_table(rows_of(table), choice, kShown, {.width = 20, .styled = false}),
              HasSubstr("1 more column\n(--format csv has\nall)"));
}

TEST(PeopleTable, IsBoldOnATerminalAlone) {
  const Table table = sample(1);
  EXPECT_THAT(people_table(rows_of(table), {}, kShown, {.width = 80, .styled = true}), HasSubstr("\033[1m"));
  EXPECT_THAT(shown(sample(1), {}, 80), Not(HasSubstr("\033")));
}

TEST(PeopleTable, DirectionsFollowTheNamesOfTheirOps) {
  const Table table{
      "detail",
      {{"Op Name", ""}, {"Direction", ""}, {"Calls", ""}},
      {{std::string("/net/fc"), std::string("bprop"), std::uint64_t{5}}, {std::string("/all"), Cell{}, std::uint64_t{7}}}};
  constexpr std::array kColumns{PeopleColumn{"Op Name", "op"}, PeopleColumn{"Direction", "direction"},
                                PeopleColumn{"Calls", "calls"}};
  EXPECT_EQ(people_table(rows_of(table), {}, kColumns, {.width = 80, .styled = false}),
            "op             calls\n"
            "-------------  -----\n"
            "/net/fc bprop      5\n"
            "/all               7\n");
  const Choice asked{.columns = {"op name", "direction"}, .sort = "", .top = 1, .accepts = {}};
  EXPECT_THAT(people_table(rows_of(table), asked, kColumns, {.width = 80, .styled = false}), HasSubstr("/net/fc  bprop"));
}

// Kernels under one base name, as people are told of them.
std::string kernel_table(const std::vector<std::string>& whole_names, std::size_t width, const Choice& choice = {}) {
  Table table{"kernel", {{"Time", "ns"}, {"Kernel Name", ""}}, {}};
  for (std::size_t i = 0; i < whole_names.size(); ++i) table.rows.push_back({std::uint64_t{100 - i}, "kernel"});
  Rows rows = rows_of(table);
  rows.kernels = {1, [&](std::size_t row) { return whole_names[row].empty() ? nullptr : &whole_names[row]; }};
  constexpr std::array kColumns{PeopleColumn{"Kernel Name", "kernel"}, PeopleColumn{"Time", "time"}};
  return people_table(rows, choice, kColumns, {.width = width, .styled = false});
}

TEST(PeopleTable, KernelsAreCalledWhatTellsThemApart) {
  EXPECT_EQ(
      kernel_table(
          {"void a::fill_kernel<4, a::FillFunctor<float> >(int)", "void a::fill_kernel<2, a::FillFunctor<int> >(int)", ""}, 80),
      "kernel                           time\n"
      "-----------------------------  ------\n"
      "fill_kernel 4 FillFunctor f32  100 ns\n"
      "fill_kernel 2 FillFunctor       99 ns\n"
      "kernel                          98 ns\n");
}

TEST(PeopleTable, DifferentKernelsThatReadTheSameAreNumbered) {
  const std::vector<std::string> names{"void k<int>(int)", "void k<unsigned>(int)", "void k<int>(int)", "relu()"};
  EXPECT_EQ(kernel_table(names, 80),
            "kernel    time\n"
            "------  ------\n"
            "k #1    100 ns\n"
            "k #2     99 ns\n"
            "k #1     98 ns\n"
            "relu     97 ns\n");
}

TEST(PeopleTable, ThoseThatReadTheSameOnceTheyAreCutAreNumberedWithinTheColumn) {
  const std::string middle(100, 'x');
  const std::string text = kernel_table({"sgemm_" + middle + "a" + middle + "_nt", "sgemm_" + middle + "b" + middle + "_nt"}, 40);
  EXPECT_THAT(text, AllOf(HasSubstr(" #1"), HasSubstr(" #2")));
  for (const std::string& line : split(text, '\n')) EXPECT_LE(display_width(line), 40U);
}

TEST(PeopleTable, NamesFollowTheRowsThatAreChosen) {
  const std::vector<std::string> names{"first()", "second()"};
  EXPECT_THAT(kernel_table(names, 80, {.columns = {"Kernel Name"}, .sort = "Time", .top = 1, .accepts = {}}),
              AllOf(HasSubstr("first"), Not(HasSubstr("second"))));
  EXPECT_THAT(kernel_table(names, 80, {.columns = {"Time"}, .sort = {}, .top = {}, .accepts = {}}), Not(HasSubstr("first")));
}

}  // namespace
}  // namespace dlkprof::report::people_test
