#include "report/format/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "report/format/csv.h"
#include "support/run_verb.h"

namespace dlkprof::report::choice_test {
namespace {

using testing::HasSubstr;

Table sample() {
  return {"kernel",
          {{"Kernel Name", ""}, {"Op Name", ""}, {"GPU Time (ns)", "ns"}, {"Note", ""}},
          {{std::string("gemm"), std::string("/net/fc"), std::uint64_t{5}, std::string("b")},
           {std::string("relu"), std::string("/net/act"), std::uint64_t{70}, Cell{}},
           {std::string("gemv"), std::string("/net/fc"), Cell{}, std::string("a")}}};
}

// The first column of what is chosen.
std::vector<std::string> names(const Choice& choice) {
  const Table table = sample();
  std::vector<std::string> found;
  for (const auto& row : to_table(choose(rows_of(table), choice).rows).rows) found.push_back(cell_text(row.front()));
  return found;
}

TEST(Choice, SortsNumbersFallingAndTextRising) {
  EXPECT_THAT(names({.columns = {}, .sort = "GPU Time (ns)", .top = {}, .accepts = {}}),
              testing::ElementsAre("relu", "gemm", "gemv"));
  EXPECT_THAT(names({.columns = {}, .sort = "note", .top = {}, .accepts = {}}), testing::ElementsAre("gemv", "gemm", "relu"));
}

TEST(Choice, KeepsTheFirstRows) {
  const Table table = sample();
  const ChosenRows chosen = choose(rows_of(table), {.columns = {}, .sort = "gpu_time", .top = 2, .accepts = {}});
  EXPECT_EQ(chosen.rows.count, 2U);
  EXPECT_EQ(chosen.left_out, 1U);
  EXPECT_EQ(names({.columns = {}, .sort = "", .top = 0, .accepts = {}}).size(), 3U);
}

TEST(Choice, FiltersByNamesOfKernelsAndOps) {
  EXPECT_THAT(names({.columns = {}, .sort = "", .top = {}, .accepts = [](const std::string& name) { return name == "/net/fc"; }}),
              testing::ElementsAre("gemm", "gemv"));
  const Table nameless{"utilization", {{"Value", ""}}, {}};
  const Choice filter{.columns = {}, .sort = "", .top = {}, .accepts = [](const std::string&) { return true; }};
  EXPECT_THROW((void)choose(rows_of(nameless), filter), UsageError);
}

TEST(Choice, PicksColumnsInTheOrderAsked) {
  const Table table = sample();
  const Rows rows = choose(rows_of(table), {.columns = {"gpu-time", "Kernel Name"}, .sort = "", .top = 1, .accepts = {}}).rows;
  EXPECT_EQ(to_csv(to_table(rows)), "GPU Time (ns),Kernel Name\r\n5,gemm\r\n");
}

TEST(Choice, TakesHeadingsForTheirColumns) {
  constexpr std::array kColumns{PeopleColumn{"GPU Time (ns)", "total\ntime"}, PeopleColumn{"Note", "re-\nmark"},
                                PeopleColumn{"Op Name", "note"}};
  const Table table = sample();
  const Choice asked{.columns = {"re-mark", "remark", "NOTE", "other"}, .sort = "total time", .top = {}, .accepts = {}};
  const Choice named = named_by_heading(asked, rows_of(table), kColumns);
  EXPECT_THAT(named.columns, testing::ElementsAre("re-mark", "Note", "NOTE", "other")) << "a name goes before a heading";
  EXPECT_EQ(named.sort, "GPU Time (ns)");
}

TEST(Choice, NamesTheClosestColumn) {
  const Table table = sample();
  const auto message = test::message_of<UsageError>([&] { (void)find_column(rows_of(table), "gpu tine"); });
  EXPECT_THAT(message, HasSubstr("Did you mean 'GPU Time (ns)'?"));
  EXPECT_THAT(test::message_of<UsageError>([&] { (void)find_column(rows_of(table), "\x1b[2Jxyz"); }),
              HasSubstr("It has: Kernel Name, "));
}

TEST(Choice, LeavesRowsAloneWhereNothingIsAsked) {
  const Table table = sample();
  EXPECT_EQ(to_csv(to_table(choose(rows_of(table), {}).rows)), to_csv(table));
}

}  // namespace
}  // namespace dlkprof::report::choice_test
