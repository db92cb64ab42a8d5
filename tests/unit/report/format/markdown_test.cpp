#include "report/format/markdown.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace dlkprof::report::markdown_test {
namespace {

TEST(Markdown, KernelsHaveTellingNames) {
  const std::vector<std::string> wholes{"void a::fill<float>(int)", "void b::copy<double, 4>(int)"};
  Rows rows{.name = "kernel",
            .columns = {{"Kernel Name", ""}, {"Calls", ""}},
            .count = wholes.size(),
            .fill =
                [](std::size_t row, std::vector<Cell>& cells) {
                  cells = {Cell{"raw"}, Cell{std::uint64_t{row + 5}}};
                },
            .kernels = Rows::Kernels{0, [&wholes](std::size_t row) { return row == 0 ? &wholes[0] : nullptr; }}};
  EXPECT_EQ(markdown_table(rows, {}, {}), "| Kernel Name | Calls |\n| --- | --- |\n| fill f32 | 5 |\n| raw | 6 |\n");
  rows.kernels.reset();
  EXPECT_EQ(markdown_table(rows, {.top = 1}, {}),
            "| Kernel Name | Calls |\n| --- | --- |\n| raw | 5 |\n\n1 more rows: --top 0\n");
}

TEST(Markdown, ColumnsThatAReportLacksAreLeftOut) {
  const Table table{"detail", {{"Op Name", ""}, {"Calls", ""}}, {{std::string("fc"), std::uint64_t{5}}}};
  constexpr std::array kColumns{PeopleColumn{"Op Name", "op"}, PeopleColumn{"Direction", "direction"}};
  EXPECT_EQ(markdown_table(rows_of(table), {}, kColumns), "| Op Name |\n| --- |\n| fc |\n");
}

}  // namespace
}  // namespace dlkprof::report::markdown_test
