#include "report/diagnosis/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "support/diagnosed_run.h"

namespace dlkprof::report::findings_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

test::DiagnosedRun slow_run() {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) builder.launch("k", 100 * i, 100 * i + 4, 100 * i + 14);
  test::DiagnosedRun run(builder);
  run.launched("k", {1, 1, 1}, {32, 1, 1}).fact("anomaly_mode", "true");
  return run;
}

TEST(FindingsText, IsAListOfSentences) {
  test::DiagnosedRun run = slow_run();
  const std::string text = findings_text(run.profile(), {}, {.width = 80, .styled = false});
  EXPECT_THAT(text, StartsWith("1.  The GPU waits for launches\n    estimated gain: at most "));
  EXPECT_THAT(text, HasSubstr("    Change: "));
  EXPECT_THAT(text, HasSubstr("\n2.  "));
  EXPECT_THAT(text, Not(HasSubstr("...")));
}

TEST(FindingsText, NamesOnceAKernelThatNoRangeSurrounds) {
  test::TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) builder.launch("alone", 100 * i, 100 * i + 4, 100 * i + 99);
  test::DiagnosedRun run(builder);
  run.launched("alone", {1, 1, 1}, {32, 1, 1});
  const std::string text = findings_text(run.profile(), {}, {.width = 80, .styled = false});
  EXPECT_THAT(text, HasSubstr("\n    at alone\n"));
  EXPECT_THAT(text, HasSubstr("The grid of alone, 100 %"));
  EXPECT_THAT(text, Not(HasSubstr("unassociated_")));
}

TEST(FindingsText, SaysThatAnOpLaunchesThatKernelToo) {
  test::TimelineBuilder builder;
  builder.range("aten::mm, op_id = 1", 0, 50);
  for (std::int64_t i = 0; i < 10; ++i) builder.launch("k", 100 * i, 100 * i + 4, 100 * i + 99);
  test::DiagnosedRun run(builder);
  run.launched("k", {1, 1, 1}, {32, 1, 1});
  EXPECT_THAT(findings_text(run.profile(), {}, {.width = 80, .styled = false}),
              HasSubstr("The grid of k of no op and 1 more op,"));
}

TEST(FindingsText, FitsThePage) {
  test::DiagnosedRun run = slow_run();
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const std::string& line : split(findings_text(run.profile(), {}, {.width = width, .styled = false}), '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(FindingsText, ShowsTheFirstOnes) {
  test::DiagnosedRun run = slow_run();
  const Choice one{.columns = {}, .sort = "", .top = 1, .accepts = {}};
  const std::string text = findings_text(run.profile(), one, {});
  EXPECT_THAT(text, Not(HasSubstr("\n2.  ")));
  EXPECT_THAT(text, HasSubstr("more findings (--top 0 shows all)"));
  const Choice sorted{.columns = {}, .sort = "Problem", .top = {}, .accepts = {}};
  EXPECT_THROW((void)findings_text(run.profile(), sorted, {}), UsageError);
}

}  // namespace
}  // namespace dlkprof::report::findings_text_test
