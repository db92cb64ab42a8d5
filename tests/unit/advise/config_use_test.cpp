#include "advise/config_use.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/diagnosed_run.h"

namespace dlkprof::advise {
namespace {

using test::TimelineBuilder;

TEST(ConfigUses, CountLaunchesAndTimeOfTheIterationsAggregated) {
  TimelineBuilder builder;
  for (const std::int64_t start : {0, 100, 200}) {
    builder.launch("small", start + 10, start + 20, start + 25).launch("large", start + 30, start + 40, start + 60);
    builder.range(test::kIterationEnd, start + 80, start + 90);
  }
  builder.measured("small", "m", {1, 2, NAN});
  test::DiagnosedRun run(builder);
  const std::vector<ConfigUse> all = config_uses(run.profile());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(run.timeline().kernels[all[0].kernel].name, "large");
  EXPECT_EQ(all[0].gpu_ns, 60);
  EXPECT_EQ(all[0].launches, 3U);
  EXPECT_TRUE(all[0].values.empty());
  EXPECT_EQ(all[1].gpu_ns, 15);
  EXPECT_EQ(all[1].values.at("m"), 1.5);
  EXPECT_EQ(all[1].samples, 3U);
  const std::vector<ConfigUse> one = config_uses(run.profile({1, 1}));
  EXPECT_EQ(one[0].gpu_ns, 20);
  EXPECT_EQ(one[0].launches, 1U);
}

TEST(ConfigUses, LaunchesThatWereNotTimedCountWithoutTime) {
  TimelineBuilder builder;
  builder.launch("k", 10, 0, 0).activity(builder.call("cuMemcpy", 30, 40), "[CUDA memcpy HtoD]", 50, 60);
  test::DiagnosedRun run(builder);
  const std::vector<ConfigUse> uses = config_uses(run.profile());
  ASSERT_EQ(uses.size(), 1U) << "a copy has no configuration";
  EXPECT_EQ(uses[0].launches, 1U);
  EXPECT_EQ(uses[0].timed, 0U);
  EXPECT_EQ(uses[0].gpu_ns, 0);
}

}  // namespace
}  // namespace dlkprof::advise
