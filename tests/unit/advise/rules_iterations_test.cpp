#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/found.h"

namespace dlkprof::advise {
namespace {

using test::fires;
using test::found;
using test::TimelineBuilder;
using testing::HasSubstr;

// Iterations of these lengths, and the end of the program.
TimelineBuilder iterations(const std::vector<std::int64_t>& lengths) {
  TimelineBuilder builder;
  std::int64_t at = 0;
  for (const std::int64_t length : lengths) {
    builder.launch("k", at, at + 10, at + 20);
    at += length;
    builder.range(test::kIterationEnd, at - 10, at);
  }
  return builder;
}

TEST(IterationRange, FiresWhereIterationsDiffer) {
  test::DiagnosedRun run(iterations({9000, 1000, 1000, 1020, 980, 1000}));
  const Findings findings = found(run.profile(), "iteration_range");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("--iter_start=1 --iter_stop=5"));
  EXPECT_FALSE(findings[0].bound_ns);
}

TEST(IterationRange, IsSilentWhereTheyDoNot) {
  test::DiagnosedRun run(iterations({9000, 1000, 1000, 1020, 980, 1000}));
  EXPECT_FALSE(fires(run.profile({1, 5}), "iteration_range"));
  EXPECT_FALSE(fires(run.profile({0, 1}), "iteration_range")) << "two say nothing of a usual one";
}

TEST(IterationRange, WithoutASteadyRangeItNamesNone) {
  test::DiagnosedRun run(iterations({1000, 2000, 4000, 8000, 16000}));
  const Findings findings = found(run.profile(), "iteration_range");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("Look at the lengths"));
}

TEST(NoIterations, FiresWhereNoKeyNodeIs) {
  test::DiagnosedRun run(TimelineBuilder().launch("a", 10, 20, 30).launch("b", 40, 50, 60));
  const Findings findings = found(run.profile(), "no_iterations");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("--key_node="));
}

TEST(NoIterations, IsSilentWhereThereAreSome) {
  test::DiagnosedRun run(iterations({1000, 1000}));
  EXPECT_FALSE(fires(run.profile(), "no_iterations"));
}

}  // namespace
}  // namespace dlkprof::advise
