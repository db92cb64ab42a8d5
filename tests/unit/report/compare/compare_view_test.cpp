#include "report/compare/compare_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "support/golden.h"
#include "support/sample_fold.h"
#include "support/sample_runs.h"

namespace dlkprof::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of(std::vector<advise::RunFigures> runs, std::size_t most = 100) {
  return compare_text(compare_view(advise::compare_all(std::move(runs)), most));
}
std::string page_of(std::vector<advise::RunFigures> runs) {
  return compare_html(compare_view(advise::compare_all(std::move(runs)), 100));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::vector<advise::RunFigures> runs_called(const std::string& name) {
  auto runs = test::sample_runs();
  for (advise::RunFigures& run : runs) {
    run.label = run.gpus.front() = name;
    for (advise::OpFigures& op : run.ops) {
      op.name += name;
      op.type = op.kernels.front().name = name;
    }
  }
  runs[1].gpus = {name + "2"};
  return runs;
}

TEST(CompareViewTest, TwoRunsStandSideBySide) {
  const std::string text = text_of(test::sample_runs());
  test::expect_golden("compare.txt", text);
  EXPECT_EQ(text.find(" \n"), std::string::npos);  // no line ends in blanks
}

TEST(CompareViewTest, MoreRunsAreARowEach) {
  auto runs = test::sample_runs();
  runs.push_back(runs[0]);
  runs[2].label = "again";
  const std::string text = text_of(runs);
  EXPECT_THAT(text, AllOf(HasSubstr("2 runs compared with b4"), HasSubstr("The runs\n"), HasSubstr("\nb4 "), HasSubstr("\nb512 "),
                          HasSubstr("\nagain "), HasSubstr("b512 compared with b4"), HasSubstr("again compared with b4")));
  EXPECT_THAT(text, Not(HasSubstr("The whole run")));
}

TEST(CompareViewTest, SaysHowManyOpsAreLeftOut) {
  EXPECT_THAT(text_of(test::sample_runs(), 1), HasSubstr("and 1 ops more\n"));
  auto runs = test::sample_runs();
  runs[0].ops[1].gpu_ns.clear();
  runs[1].ops[1].gpu_ns.clear();
  EXPECT_THAT(text_of(runs), HasSubstr("1 ops that launch something in fewer than half of the iterations are left out"));
}

TEST(CompareViewTest, EmptyRunsHaveNoNumbersMadeUp) {
  for (const std::string& text : {text_of({{}, {}}), page_of({{}, {}})})
    EXPECT_THAT(text, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf "))));
}

TEST(CompareViewTest, ThePageNeedsNothingElse) {
  const std::string page = page_of(test::sample_runs());
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  for (const char* part : {"<script", "http:", "https:", "src=", "url(", "@import", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
  for (const char* element : {"table", "tr", "td", "section", "svg", "ul", "li", "h2", "div"}) {
    EXPECT_EQ(count(page, std::string("<") + element + ">") + count(page, std::string("<") + element + " "),
              count(page, std::string("</") + element + ">"))
        << element;
  }
  EXPECT_THAT(page, HasSubstr("<rect class=\"other\" y=\"7\" width=\"160.0\" height=\"6\"/>"));
}

TEST(CompareViewTest, NamesAreNoMarkup) {
  const std::string page = page_of(runs_called("<img src=x onerror='alert(1)'>&\"</td><script>"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("<script")), HasSubstr("&lt;img src=x")));
}

TEST(CompareViewTest, ControlCharactersNeverComeThrough) {
  for (const std::string& text : {text_of(runs_called(test::kHostileName)), page_of(runs_called(test::kHostileName))}) {
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte == '\n' || byte >= 0x20; }));
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
  }
}

TEST(CompareViewTest, NamesOfMegabytesAreCut) {
  const auto runs = runs_called(std::string(1U << 20U, 'x'));
  EXPECT_LT(text_of(runs).size(), 30'000U);
  EXPECT_LT(page_of(runs).size(), 50'000U);
}

TEST(CompareViewTest, TextFitsThePage) {
  const CompareView view = compare_view(advise::compare_all(test::sample_runs()), 100);
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const std::string& line : split(compare_text(view, {.width = width, .styled = false}), '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
  EXPECT_LT(count(compare_text(view, {}, true), "\n"), 60U) << "the brief form is short";
}

TEST(CompareViewTest, BarsStandBesideTheNameWithItsPath) {
  const std::string page = page_of(test::sample_runs());
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\">op</th><th scope=\"col\">GPU time</th>"));
  EXPECT_EQ(page.find("colspan"), std::string::npos) << "the path is in the row of its op";
}

}  // namespace
}  // namespace dlkprof::report
