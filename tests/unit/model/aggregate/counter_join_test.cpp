#include "model/aggregate/counter_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cupti/catalogue.h"
#include "model/aggregate/reliable.h"
#include "support/sample_capture.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::counter_join_test {
namespace {

using test::TimelineBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
constexpr const char* kL2Hits = "lts__t_sector_hit_rate.pct";

Counters join_all(const Timeline& timeline) {
  CounterJoin join(timeline);
  for (const Activity& activity : timeline.activities) join.add(0, activity);
  return join.finish(1).front();
}

TEST(CounterJoinTest, LeavesOutWhatCannotBe) {
  TimelineBuilder builder;
  builder.launch("short", 0, 10, 20).launch("long", 5, 30, 130);
  builder.measured("short", kL1, {197.44}).measured("long", kL1, {40, 217.9, 60});
  builder.measured("long", kL2Hits, {100.0}).measured("short", "smsp__average_warp_latency_issue_stalled_wait.pct", {470});
  const Counters counters = join_all(builder.build());
  EXPECT_DOUBLE_EQ(counters.values.at(kL1), 50);
  EXPECT_DOUBLE_EQ(counters.values.at(kL2Hits), 100);
  EXPECT_DOUBLE_EQ(counters.values.at("smsp__average_warp_latency_issue_stalled_wait.pct"), 470) << "nothing bounds it";
  EXPECT_THAT(counters.unreliable, ElementsAre(kL1));
}

TEST(CounterJoinTest, LeavesOutAMetricOfWhichNothingIsLeft) {
  TimelineBuilder builder;
  builder.launch("short", 0, 10, 20).measured("short", kL1, {197.44});
  const Counters counters = join_all(builder.build());
  EXPECT_FALSE(counters.values.contains(kL1));
  EXPECT_EQ(counters.samples, 1U);
}

TEST(CounterJoinTest, SaysWhatCountsAreScaledFrom) {
  TimelineBuilder builder;
  builder.launch("a", 0, 10, 20).launch("a", 5, 30, 40).launch("a", 8, 50, 60).launch("b", 12, 70, 80).launch("c", 14, 90, 95);
  builder.measured("a", "dram__bytes.sum", {10, 20}).measured("b", "dram__bytes.sum", {7});
  const Counters counters = join_all(builder.build());
  EXPECT_DOUBLE_EQ(counters.values.at("dram__bytes.sum"), 52) << "15 of each of three launches, 7 of one";
  EXPECT_EQ(counters.counts.at("dram__bytes.sum"), (Counters::Count{37, 3, 4}));
}

TEST(CounterJoinTest, SamplesAreNoSumOfLaunches) {
  TimelineBuilder builder;
  builder.launch("a", 0, 10, 20).launch("a", 5, 30, 40);
  builder.sampled("a", "dram__bytes.sum", {.samples = 9, .launches = 2, .mean = 100});
  const Counters counters = join_all(builder.build());
  EXPECT_DOUBLE_EQ(counters.values.at("dram__bytes.sum"), 200);
  EXPECT_EQ(counters.counts.at("dram__bytes.sum"), (Counters::Count{0, 0, 2}));
}

// Two kernels of 100 % and 50 % theoretical occupancy, one of them three times as long as the other.
TEST(CounterJoinTest, WeighsTheoreticalOccupancyByTime) {
  TimelineBuilder builder;
  builder.launch("full", 0, 1000, 4000).launch("half", 5, 5000, 6000).launch("not measured", 9, 7000, 9000);
  builder.measured("full", "dram__bytes.sum", {1}).measured("half", "dram__bytes.sum", {1});
  Timeline timeline = builder.build();
  timeline.devices.at(0).record = test::h200();
  for (std::uint32_t config = 0; config < timeline.configs.size(); ++config) {
    const std::uint32_t function = config + 1;
    timeline.configs[config].key = test::key(function, {1000, 1, 1}, {256, 1, 1});
    capture::FunctionRecord record = test::function(function, "k");
    record.registers_per_thread = config == 1 ? 64 : 32;
    record.static_shared_bytes = 0;
    record.max_threads_per_block = 1024;
    timeline.functions.push_back({0, record});
  }
  EXPECT_DOUBLE_EQ(join_all(timeline).values.at("theoretical_occupancy_pct"), 87.5);
  EXPECT_DOUBLE_EQ(counters_of_launch(timeline, 1).values.at("theoretical_occupancy_pct"), 50);
  EXPECT_THAT(counters_of_launch(timeline, 2).values, IsEmpty());
}

TEST(Shares, AreAllThatSectionsShowInPerCent) {
  const cupti::Catalogue catalogue = cupti::Catalogue::load(DLKPROF_SOURCE_DIR "/metrics");
  std::size_t seen = 0;
  for (const cupti::Section& section : catalogue.sections()) {
    for (const cupti::SectionRow& row : section.rows) {
      for (const std::string& metric : row.metrics) {
        if (row.unit != "%") continue;
        EXPECT_TRUE(is_share(metric)) << metric;
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 20U);
  EXPECT_FALSE(is_share("smsp__average_warps_issue_stalled_wait_per_issue_active.pct"));
  EXPECT_FALSE(is_unreliable(kL1, 100.004)) << "shown as 100.00";
  EXPECT_TRUE(is_unreliable(kL1, 100.01));
}

}  // namespace
}  // namespace dlkprof::model::counter_join_test
