#include "report/format/table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/format/csv.h"
#include "report/format/json.h"

namespace dlkprof::report::table_test {
namespace {

Table sample() {
  return {"sample",
          {{"name", ""}, {"bytes", "byte"}, {"share", "%"}},
          {{std::string("gemm"), std::uint64_t{12}, 0.1}, {std::string("relu"), std::monostate{}, 100.0}}};
}

TEST(CellText, IsTheShortestThatReadsBackTheSame) {
  EXPECT_EQ(cell_text(0.1), "0.1");
  EXPECT_EQ(cell_text(66656.0), "66656");
  EXPECT_EQ(cell_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(cell_text(std::uint64_t{UINT64_MAX}), "18446744073709551615");
  EXPECT_EQ(cell_text(Cell{}), "");
  EXPECT_EQ(cell_text(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST(ToText, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(to_text(sample()),
            "name  bytes  share\n"
            "----  -----  -----\n"
            "gemm     12    0.1\n"
            "relu           100\n");
}

TEST(ToText, CutsWideCellsAndEscapesControls) {
  const Table table{"t", {{"name", ""}}, {{std::string(200, 'x')}, {std::string("a\033[31m")}}};
  const std::string text = to_text(table, 20);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find(std::string(17, 'x') + "...\n"), std::string::npos);
}

TEST(ToCsv, QuotesAsRfc4180Says) {
  const Table table{"t", {{"a,b", ""}, {"c", ""}}, {{std::string("say \"hi\""), std::string("two\nlines")}, {Cell{}, 1.5}}};
  EXPECT_EQ(to_csv(table), "\"a,b\",c\r\n\"say \"\"hi\"\"\",\"two\nlines\"\r\n,1.5\r\n");
}

TEST(ToCsv, KeepsFormulasAndMakesBytesValid) {
  const Table table{"t", {{"a", ""}, {"b", ""}}, {{std::string("=cmd()"), std::string("x\x01\xff\r")}}};
  EXPECT_EQ(to_csv(table), "a,b\r\n=cmd(),x\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\r\n");
}

TEST(ToCsv, EmptyTables) {
  EXPECT_EQ(to_csv({"t", {{"a", ""}}, {}}), "a\r\n");
  EXPECT_EQ(to_csv({"t", {{"a", ""}}, {{Cell{}}}}), "a\r\n\r\n");
}

TEST(ToJson, NamesUnitsAndLeavesEmptyCellsNull) {
  const auto document = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(document["report"], "sample");
  EXPECT_EQ(document["units"], (nlohmann::json{{"bytes", "byte"}, {"share", "%"}}));
  ASSERT_EQ(document["rows"].size(), 2U);
  EXPECT_EQ(document["rows"][0]["bytes"], 12);
  EXPECT_EQ(document["rows"][0]["share"], 0.1);
  EXPECT_TRUE(document["rows"][1]["bytes"].is_null());
}

TEST(ToJson, IsValidWhateverNamesHold) {
  const Table table{"t", {{"a", ""}}, {{std::string("\xff\x01\"\\")}, {std::numeric_limits<double>::infinity()}}};
  const auto document = nlohmann::json::parse(to_json(table));
  EXPECT_EQ(document["rows"][0]["a"], "\xEF\xBF\xBD\x01\"\\");
  EXPECT_TRUE(document["rows"][1]["a"].is_null());
}

TEST(ToWrappedText, BreaksLongCellsWhereThePageEnds) {
  const Table table{
      "t", {{"set", ""}, {"about", ""}}, {{std::string("basic"), std::string("one two three four five six seven eight")}}};
  EXPECT_EQ(to_wrapped_text(table, 80), to_text(table));
  EXPECT_EQ(to_wrapped_text(table, 28),
            "set    about\n"
            "-----  --------------------\n"
            "basic  one two three four\n"
            "       five six seven eight\n");
}

}  // namespace
}  // namespace dlkprof::report::table_test
