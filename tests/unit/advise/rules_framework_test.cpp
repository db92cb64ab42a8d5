#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/found.h"

namespace dlkprof::advise {
namespace {

using test::fires;
using test::found;
using test::TimelineBuilder;
using testing::HasSubstr;

TimelineBuilder convolution() {
  return TimelineBuilder().range("aten::cudnn_convolution, seq = 1", 0, 100).launch("k", 10, 20, 90);
}

TEST(Dataloader, FiresWhereTheGpuWaitsForIt) {
  test::DiagnosedRun run(TimelineBuilder()
                             .range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 300)
                             .range("aten::relu, seq = 1", 300, 1000)
                             .launch("k", 310, 320, 1000));
  const Findings findings = found(run.profile(), "dataloader");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("30 %"));
  EXPECT_NEAR(static_cast<double>(*findings[0].bound_ns), 300, 1);
}

TEST(Dataloader, IsSilentWhereLoadingRunsBesideTheGpu) {
  test::DiagnosedRun run(TimelineBuilder()
                             .launch("k", 0, 5, 950)
                             .range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 300)
                             .range("aten::relu, seq = 1", 300, 1000));
  EXPECT_FALSE(fires(run.profile(), "dataloader"));
}

TEST(CudnnBenchmark, FiresWhereItIsOffAndConvolutionsRan) {
  test::DiagnosedRun run(convolution());
  run.fact("cudnn.benchmark", "false");
  const Findings findings = found(run.profile(), "cudnn_benchmark");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 70);
}

TEST(CudnnBenchmark, IsSilentWhereItIsOnOrWasOrDoesNotMatter) {
  EXPECT_FALSE(fires(test::DiagnosedRun(convolution()).profile(), "cudnn_benchmark"));
  EXPECT_FALSE(fires(test::DiagnosedRun(convolution()).fact("cudnn.benchmark", "true").profile(), "cudnn_benchmark"));
  test::DiagnosedRun once(convolution());
  once.fact("cudnn.benchmark", "false").fact("cudnn.benchmark_set", "true");
  EXPECT_FALSE(fires(once.profile(), "cudnn_benchmark")) << "the program turns it on and off again";
  test::DiagnosedRun other(TimelineBuilder().range("aten::mm, seq = 1", 0, 100).launch("k", 10, 20, 90));
  EXPECT_FALSE(fires(other.fact("cudnn.benchmark", "false").profile(), "cudnn_benchmark"));
}

class SlowApi : public testing::TestWithParam<const char*> {};

TEST_P(SlowApi, FiresWhereItIsOn) {
  test::DiagnosedRun run(convolution());
  EXPECT_EQ(found(run.fact(GetParam(), "true").profile(), "slow_api").size(), 1U);
}

TEST_P(SlowApi, IsSilentWhereItIsOff) {
  test::DiagnosedRun run(convolution());
  EXPECT_FALSE(fires(run.fact(GetParam(), "false").profile(), "slow_api"));
}

INSTANTIATE_TEST_SUITE_P(All, SlowApi, testing::Values("anomaly_mode", "gradcheck", "gradgradcheck", "autograd_profile"));

test::DiagnosedRun batch_of_4(const char* free_at_peak) {
  test::DiagnosedRun run(convolution());
  run.fact("batch_size", "4").fact("memory.0.total", "1000").fact("memory.0.free_at_peak", free_at_peak);
  return run;
}

TEST(BatchSize, FiresWhereMuchMemoryStaysFree) {
  const Findings findings = found(batch_of_4("900").profile(), "batch_size");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("batch size of 4 at least 90 % of the memory of GPU 0"));
}

TEST(BatchSize, IsSilentWhereItIsUsedOrNotKnown) {
  EXPECT_FALSE(fires(batch_of_4("500").profile(), "batch_size"));
  EXPECT_FALSE(fires(batch_of_4("much").profile(), "batch_size"));
  EXPECT_FALSE(fires(batch_of_4("1e400").profile(), "batch_size"));
  EXPECT_FALSE(fires(batch_of_4("-900").profile(), "batch_size"));
  test::DiagnosedRun unknown(convolution());
  unknown.fact("memory.0.total", "1000").fact("memory.0.free_at_peak", "900");
  EXPECT_FALSE(fires(unknown.profile(), "batch_size"));
}

TEST(NvtxMissing, FiresWherePyTorchTellsNothingOfItsOps) {
  test::DiagnosedRun told(TimelineBuilder().launch("k", 10, 20, 90));
  EXPECT_TRUE(fires(told.fact("version", "2.11").profile(), "nvtx_missing"));
  test::DiagnosedRun seen(TimelineBuilder().launch("void at::native::relu(float*)", 10, 20, 90));
  EXPECT_TRUE(fires(seen.profile(), "nvtx_missing"));
}

TEST(NvtxMissing, IsSilentWhereOpsAreKnownOrItIsNotPyTorch) {
  test::DiagnosedRun run(convolution());
  EXPECT_FALSE(fires(run.fact("version", "2.11").profile(), "nvtx_missing"));
  EXPECT_FALSE(fires(test::DiagnosedRun(TimelineBuilder().launch("k", 10, 20, 90)).profile(), "nvtx_missing"));
}

}  // namespace
}  // namespace dlkprof::advise
