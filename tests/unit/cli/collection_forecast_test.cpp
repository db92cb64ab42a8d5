#include "cli/profile/collection_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/collection_prices.h"

namespace dlkprof::cli::collection_forecast_test {
namespace {

using capture::Collect;
using testing::DoubleNear;
using testing::Optional;

using Configs = std::vector<ConfigLaunches>;

constexpr PlanNeeds kTenPasses{.passes = 10, .per_sm = true, .sums = true};

capture::ProfileOptions options(Collect collect, std::optional<std::uint64_t> samples = 1) {
  capture::ProfileOptions made;
  made.collect = collect;
  made.samples = samples;
  return made;
}

TEST(Forecast, OfUnknownLaunchesHasPricesAlone) {
  const CollectionForecast made = forecast(options(Collect::automatic), kTenPasses, std::nullopt);
  ASSERT_TRUE(made.replay && made.windows);
  EXPECT_DOUBLE_EQ(made.replay->launch_seconds, 0.21);
  EXPECT_FALSE(made.replay->seconds || made.replay->launches);
  EXPECT_NEAR(made.windows->launch_seconds, 10 * 0.99e-3, 1e-12);
  EXPECT_NEAR(made.windows->window_seconds, 10 * 13e-3, 1e-12);
  EXPECT_EQ(made.windows->host_bytes, 230'000'000U + 46U * 1'500'000) << "as many launches as 300 MB have room for";
  EXPECT_FALSE(made.with_framework);
}

TEST(Forecast, WithAValueForEachInstanceWindowsAreSmaller) {
  PlanNeeds needs = kTenPasses;
  needs.sums = false;
  const CollectionForecast made = forecast(options(Collect::iteration), needs, Configs(17));
  EXPECT_EQ(made.windows->host_bytes, 248'000'000U + 17U * 3'050'000);
}

TEST(Forecast, ReplaysASampleOfEachConfiguration) {
  const CollectionForecast made = forecast(options(Collect::kernel, 3), kTenPasses, Configs{{100}, {2}});
  EXPECT_FALSE(made.windows);
  EXPECT_THAT(made.replay->launches, Optional(5U));
  EXPECT_THAT(made.replay->seconds, Optional(DoubleNear(5 * 0.21, 1e-12)));
}

TEST(Forecast, AutoReplaysTheFirstAndMeasuresTheOthersInWindows) {
  const CollectionForecast made = forecast(options(Collect::automatic, 3), kTenPasses, Configs{{100}, {2}, {1}});
  EXPECT_THAT(made.replay->launches, Optional(3U));
  EXPECT_THAT(made.windows->launches, Optional(3U));
  EXPECT_THAT(made.windows->windows, Optional(10U));
  EXPECT_THAT(made.windows->seconds, Optional(DoubleNear(3 * 9.9e-3 + 0.13 + 60e-3 + 46 * 0.8e-3, 1e-12)));
}

TEST(Forecast, AutoMeasuresAllInWindowsBesideAFramework) {
  capture::ProfileOptions automatic = options(Collect::automatic, 3);
  const Configs configs{{100}, {2}, {1}};
  const CollectionForecast made = forecast(automatic, kTenPasses, configs);
  ASSERT_TRUE(made.with_framework);
  EXPECT_THAT(made.with_framework->launches, Optional(6U));
  EXPECT_EQ(made.with_framework->seconds, forecast(options(Collect::iteration, 3), kTenPasses, configs).windows->seconds);
  automatic.selection.launch_skip = 1;
  EXPECT_FALSE(forecast(automatic, kTenPasses, configs).with_framework) << "a launch has to give all passes by itself";
  EXPECT_FALSE(forecast(options(Collect::iteration, 3), kTenPasses, configs).with_framework);
}

TEST(Forecast, NothingInWindowsTakesNoTime) {
  const CollectionForecast made = forecast(options(Collect::automatic), kTenPasses, Configs{{100}});
  EXPECT_THAT(made.windows->seconds, Optional(0.0));
}

TEST(Forecast, WindowsAreNoLargerThanTheyMayBe) {
  const CollectionForecast made =
      forecast(options(Collect::iteration, 1), {.passes = 2, .per_sm = false}, Configs(129, {9, false}));
  EXPECT_THAT(made.windows->windows, Optional(4U)) << "129 launches are two sequences of two passes";
}

TEST(Forecast, WithMoreMemoryWindowsAreLarger) {
  capture::ProfileOptions all = options(Collect::iteration, std::nullopt);
  all.max_memory_mb = 380;
  const CollectionForecast made = forecast(all, {.passes = 1, .per_sm = true, .sums = true}, Configs{{101}});
  EXPECT_THAT(made.windows->windows, Optional(2U)) << "100 launches of 1.5 MB beside 230 MB";
  EXPECT_EQ(made.windows->host_bytes, 380'000'000U);
}

TEST(Forecast, WithNoMemoryWindowsHaveAFewLaunches) {
  capture::ProfileOptions all = options(Collect::iteration);
  all.max_memory_mb = 0;
  EXPECT_EQ(forecast(all, kTenPasses, std::nullopt).windows->host_bytes,
            cupti::kPerSmPrices.set_up_bytes + cupti::kFewestLaunches * cupti::kPerSmPrices.host_bytes);
}

TEST(Forecast, CollectivesAreNotReplayed) {
  const Configs configs{{10, false}, {40, true}};
  const CollectionForecast replays = forecast(options(Collect::kernel), kTenPasses, configs);
  EXPECT_THAT(replays.replay->launches, Optional(1U));
  EXPECT_EQ(replays.skipped, 40U);
  const CollectionForecast beside = forecast(options(Collect::automatic, 3), kTenPasses, configs);
  EXPECT_THAT(beside.replay->launches, Optional(1U));
  EXPECT_THAT(beside.windows->launches, Optional(2U)) << "which go on beside collectives";
  ASSERT_TRUE(beside.with_framework);
  EXPECT_THAT(beside.with_framework->launches, Optional(3U));
  EXPECT_EQ(beside.skipped, 40U);
  const CollectionForecast windows = forecast(options(Collect::iteration, 3), kTenPasses, configs);
  EXPECT_THAT(windows.windows->launches, Optional(6U));
  EXPECT_EQ(windows.skipped, 0U);
}

TEST(Forecast, LaunchCountBoundsIt) {
  capture::ProfileOptions few = options(Collect::kernel, std::nullopt);
  few.selection.launch_count = 7;
  EXPECT_THAT(forecast(few, kTenPasses, Configs{{100}}).replay->launches, Optional(7U));
}

TEST(Forecast, OfNothingToMeasureIsNone) {
  for (const auto& made :
       {forecast(options(Collect::none), kTenPasses, Configs{{1}}), forecast(options(Collect::source), kTenPasses, Configs{{1}}),
        forecast(options(Collect::kernel), PlanNeeds{}, Configs{{1}})}) {
    EXPECT_FALSE(made.replay || made.windows);
  }
}

}  // namespace
}  // namespace dlkprof::cli::collection_forecast_test
