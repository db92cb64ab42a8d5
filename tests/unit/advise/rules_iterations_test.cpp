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

TEST(IterationRange, FiresWhereEvenTheSteadyRangeVaries) {
  test::DiagnosedRun run(iterations({1000, 2000, 1000, 2000, 1000, 2000, 1000}));
  const Findings findings = found(run.profile({}), "iteration_range");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("although warm-up"));
  EXPECT_THAT(findings[0].recommendation, HasSubstr("Look for what differs"));
  EXPECT_FALSE(findings[0].bound_ns);
}

TEST(IterationRange, WarmUpIsNoFinding) {
  test::DiagnosedRun run(iterations({500, 9000, 1000, 1000, 1020, 980, 1000}));
  EXPECT_FALSE(fires(run.profile({}), "iteration_range"));
  EXPECT_FALSE(fires(run.profile({0, 1}), "iteration_range")) << "two say nothing of a usual one";
}

TEST(IterationRange, NamesTheSteadyRangeWhereAWorseOneIsAskedFor) {
  test::DiagnosedRun run(iterations({500, 9000, 1000, 1000, 1020, 980, 1000}));
  const Findings findings = found(run.profile({0, {}}), "iteration_range");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("iterations 2 to 6 are the steady range"));
}

TEST(NoIterations, FiresWhereNoKeyNodeIs) {
  test::DiagnosedRun run(TimelineBuilder().launch("a", 10, 20, 30).launch("b", 40, 50, 60));
  const Findings findings = found(run.profile({}), "no_iterations");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("--key_node="));
}

TEST(NoIterations, IsSilentWhereThereAreSome) {
  test::DiagnosedRun run(iterations({1000, 1000}));
  EXPECT_FALSE(fires(run.profile({}), "no_iterations"));
}

}  // namespace
}  // namespace dlkprof::advise
