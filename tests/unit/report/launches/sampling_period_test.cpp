#include "report/launches/launch_text.h"

#include <gtest/gtest.h>

#include "support/pc_samples.h"

namespace dlkprof::report::sampling_period_test {
namespace {

TEST(SamplingPeriod, IsANumberUnlessItWasLengthened) {
  model::PcSamples samples = test::small_pc_samples();
  EXPECT_EQ(sampling_period(samples), Cell{"131072 to 262144"});
  samples.totals[0].longest_log2 = 17;
  EXPECT_EQ(sampling_period(samples), Cell{std::uint64_t{131072}});
  samples.totals.push_back({1, 0, 5, 31, 0, 0, 0, 0});
  EXPECT_EQ(sampling_period(samples), Cell{"32 to 2147483648"});
  EXPECT_EQ(sampling_period({}), Cell{});
}

}  // namespace
}  // namespace dlkprof::report::sampling_period_test
