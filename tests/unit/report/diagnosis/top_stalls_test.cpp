#include "report/diagnosis/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/format/layout.h"
#include "support/diagnosed_run.h"
#include "support/pc_samples.h"

namespace dlkprof::report::top_stalls_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

test::DiagnosedRun sampled_run() {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120).launch("other", 130, 140, 150));
  run.timeline().pc_samples = test::small_pc_samples();
  return run;
}

TEST(TopStalls, NameTheLargestWaitsAndExplainTheFirst) {
  test::DiagnosedRun run = sampled_run();
  const std::string text = top_stalls(run.profile());
  EXPECT_THAT(text, HasSubstr("76.9 %  k"));
  EXPECT_THAT(text, HasSubstr("long_scoreboard 40 %, no_instruction 30 %\n"));
  EXPECT_THAT(text, HasSubstr("long_scoreboard: Warps wait for data"));
  EXPECT_THAT(text, Not(HasSubstr("selected")));
  EXPECT_THAT(text, HasSubstr("other"));
  EXPECT_THAT(top_stalls(run.profile(), 1), Not(HasSubstr("other")));
}

TEST(TopStalls, LinesFitTheTerminal) {
  test::DiagnosedRun run = sampled_run();
  run.timeline().kernels[0].name = std::string(300, 'x') + "\x1b[2J";
  for (std::string& reason : run.timeline().pc_samples.reasons) reason += std::string(300, 'y') + "\x1b[2J";
  const std::string text = top_stalls(run.profile());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const std::string calm = top_stalls(sampled_run().profile());
  for (const std::string& line : split(calm, '\n')) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(TopStalls, OfNothingIsNothing) {
  test::DiagnosedRun run(test::TimelineBuilder().launch("k", 10, 20, 120));
  EXPECT_THAT(top_stalls(run.profile()), IsEmpty());
}

}  // namespace
}  // namespace dlkprof::report::top_stalls_test
