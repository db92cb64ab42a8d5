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
  EXPECT_THAT(text_of(test::sample_runs(), 1), HasSubstr("and 1 more op\n"));
  auto runs = test::sample_runs();
  runs[0].ops[1].gpu_ns.clear();
  runs[1].ops[1].gpu_ns.clear();
  EXPECT_THAT(text_of(runs), HasSubstr("left out: 1 op that launches something in fewer than half of the iterations"));
}

TEST(CompareViewTest, EmptyRunsHaveNoNumbersMadeUp) {
  EXPECT_THAT(text_of({{}, {}}), AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf "))));
}

TEST(CompareViewTest, ControlCharactersNeverComeThrough) {
  const std::string text = text_of(runs_called(test::kHostileName));
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte == '\n' || byte >= 0x20; }));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
}

TEST(CompareViewTest, NamesOfMegabytesAreCut) {
  const auto runs = runs_called(std::string(1U << 20U, 'x'));
  EXPECT_LT(text_of(runs).size(), 30'000U);
}

TEST(CompareViewTest, TextFitsThePage) {
  const CompareView view = compare_view(advise::compare_all(test::sample_runs()), 100);
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const std::string& line : split(compare_text(view, {.width = width, .styled = false}), '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
  const std::string brief = compare_text(view, {}, true);
  EXPECT_LT(std::count(brief.begin(), brief.end(), '\n'), 60) << "the brief form is short";
}

}  // namespace
}  // namespace dlkprof::report
