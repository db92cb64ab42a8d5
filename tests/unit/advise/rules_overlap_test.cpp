#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/found.h"

namespace dlkprof::advise {
namespace {

using test::fires;
using test::found;
using test::TimelineBuilder;
using testing::HasSubstr;

// A kernel from 0 to 900, and a copy.
test::DiagnosedRun with_copy(std::int64_t start, std::int64_t end, const char* kind = "[CUDA memcpy HtoD]") {
  TimelineBuilder builder;
  builder.launch("k", 0, 1, 901).activity(builder.call("cuMemcpyAsync", start - 1, start), kind, start, end);
  return test::DiagnosedRun(builder);
}

TEST(ExposedCopies, FireWhereOnlyCopiesRun) {
  const Findings findings = found(with_copy(801, 1001).profile(), "exposed_copies");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 100) << "the half of it in which no kernel runs";
  EXPECT_THAT(findings[0].problem, HasSubstr("For 10 %"));
}

TEST(ExposedCopies, AreSilentWhereKernelsRunBesideThem) {
  EXPECT_FALSE(fires(with_copy(301, 901).profile(), "exposed_copies"));
  EXPECT_FALSE(fires(with_copy(801, 1001, "[CUDA memcpy DtoD]").profile(), "exposed_copies")) << "on the GPU";
}

test::DiagnosedRun with_kernel(const char* name, std::int64_t length) {
  return test::DiagnosedRun(TimelineBuilder().launch("k", 0, 1, 901).launch(name, 5, 901, 901 + length));
}

TEST(LayoutTransposes, FireWhereTheyTakeTime) {
  const Findings findings = found(with_kernel("void cudnn::ops::nchwToNhwcKernel<float>()", 100).profile(), "layout_transposes");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 100);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("channels_last"));
}

TEST(LayoutTransposes, AreSilentWhereTheyDoNot) {
  EXPECT_FALSE(fires(with_kernel("nchwToNhwcKernel", 10).profile(), "layout_transposes"));
  EXPECT_FALSE(fires(with_kernel("max_pool_forward_nchw", 500).profile(), "layout_transposes"));
}

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

TEST(SlowCollectives, FireWhereTheyRunAloneOnFewMultiprocessors) {
  test::DiagnosedRun run = with_kernel(kAllReduce, 100);
  const Findings findings = found(run.launched(kAllReduce, {24, 1, 1}, {512, 1, 1}).profile(), "slow_collectives");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 100);
  EXPECT_THAT(findings[0].problem, HasSubstr("18.2 % of the multiprocessors"));
}

TEST(SlowCollectives, AreSilentWhereTheyAreHiddenOrWide) {
  test::DiagnosedRun wide = with_kernel(kAllReduce, 100);
  EXPECT_FALSE(fires(wide.launched(kAllReduce, {66, 1, 1}, {512, 1, 1}).profile(), "slow_collectives"));
  test::DiagnosedRun hidden(TimelineBuilder().launch("k", 0, 1, 901).launch(kAllReduce, 5, 101, 801));
  EXPECT_FALSE(fires(hidden.launched(kAllReduce, {24, 1, 1}, {512, 1, 1}).profile(), "slow_collectives"));
  EXPECT_FALSE(fires(with_kernel("gemm", 100).launched("gemm", {1, 1, 1}, {512, 1, 1}).profile(), "slow_collectives"));
}

}  // namespace
}  // namespace dlkprof::advise
