#include "report/format/rows.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/format/csv.h"
#include "report/format/json.h"

namespace dlkprof::report::rows_test {
namespace {

Rows numbers(std::size_t count) {
  return {"numbers", {{"number", "byte"}, {"word", ""}}, count, [](std::size_t row, std::vector<Cell>& cells) {
            cells[0] = std::uint64_t{row};
            cells[1] = "word " + std::to_string(row);
          }};
}

TEST(Rows, GoOutInPieces) {
  std::size_t pieces = 0;
  std::size_t longest = 0;
  std::string text;
  write_csv(numbers(100'000), [&](std::string_view piece) {
    ++pieces;
    longest = std::max(longest, piece.size());
    text += piece;
  });
  EXPECT_GT(pieces, 10U);
  EXPECT_LT(longest, 100'000U);
  EXPECT_EQ(text.substr(0, 20), "number,word\r\n0,word ");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100'001);
}

TEST(Rows, GoOutAsJson) {
  std::string text;
  write_json(numbers(20'000), [&](std::string_view piece) { text += piece; });
  const auto json = nlohmann::json::parse(text);
  ASSERT_EQ(json["rows"].size(), 20'000U);
  EXPECT_EQ(json["rows"][19'999]["word"], "word 19999");
  EXPECT_EQ(json["units"]["number"], "byte");
}

TEST(Rows, NoneAreWellFormedToo) {
  EXPECT_EQ(to_csv(to_table(numbers(0))), "number,word\r\n");
  EXPECT_TRUE(nlohmann::json::parse(to_json(to_table(numbers(0))))["rows"].empty());
}

TEST(Rows, OfATableAreItsOwn) {
  const Table table = to_table(numbers(3));
  EXPECT_EQ(to_table(rows_of(table)).rows, table.rows);
}

TEST(Rows, KeepEveryKindOfCell) {
  const Table table{"kinds", {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}, {{true, std::int64_t{-5}, 2.0, Cell{}}}};
  EXPECT_EQ(to_csv(table), "a,b,c,d\r\ntrue,-5,2,\r\n");
  EXPECT_NE(to_json(table).find(R"({"a": true, "b": -5, "c": 2.0, "d": null})"), std::string::npos);
}

}  // namespace
}  // namespace dlkprof::report::rows_test
