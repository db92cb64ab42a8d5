#include "cli/profile/dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/run_verb.h"
#include "support/timeline_builder.h"

namespace dlkprof::cli::dry_run_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

DryRun plan() {
  return {.chip = "GH100",
          .metrics = {{"dram__bytes.sum", "dram", false, 1}, {"sm__throughput.avg", "sm", true, 8}},
          .unavailable = {"none\033[31m.sum"},
          .needs = {.passes = 9, .per_sm = true, .sums = true},
          .earlier_run = {}};
}

TEST(IsPerSm, GoesByTheHardwareAndTheName) {
  EXPECT_TRUE(is_per_sm("smsp__inst_executed.sum", "smsp"));
  EXPECT_TRUE(is_per_sm("l1tex__t_bytes.sum", "l1tex"));
  EXPECT_TRUE(is_per_sm("gpu__compute_memory_throughput.avg", "gpu"));
  EXPECT_FALSE(is_per_sm("TPC.TriageCompute.sm__cycles_active.avg", "sm"));
  EXPECT_FALSE(is_per_sm("TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "sm"));
  EXPECT_TRUE(is_per_sm("TPC.TriageCompute.sm__inst_executed_realtime.avg.per_cycle_active", "sm"));
  EXPECT_FALSE(is_per_sm("TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_active", "tpc"));
  EXPECT_FALSE(is_per_sm("dram__bytes.sum", "dram"));
  EXPECT_FALSE(is_per_sm("gpu__time_duration.sum", "gpu"));
}

TEST(SelectedConfigs, AreThoseThatTheSelectorTakes) {
  test::TimelineBuilder builder;
  builder.launch("gemm", 10, 20, 30).launch("gemm", 40, 50, 60).launch("relu", 70, 80, 90).launch("ncclKernel", 91, 92, 93);
  const model::Timeline timeline = builder.build();
  EXPECT_THAT(selected_configs(timeline, {}), SizeIs(3));
  capture::Selection selection;
  selection.kernel_name = "regex:ge|nccl";
  const std::vector<ConfigLaunches> found = selected_configs(timeline, selection);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].launches, 2U);
  EXPECT_TRUE(found[1].collective);
  selection.devices = {3};
  EXPECT_THAT(selected_configs(timeline, selection), SizeIs(0));
}

TEST(SelectedConfigs, WithoutATimelineAreThoseCounted) {
  model::Timeline timeline;
  timeline.configs.resize(1);
  timeline.counts.resize(2);
  timeline.counts[0].config = 0;
  timeline.counts[0].launches = 12;
  const auto found = selected_configs(timeline, {});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].launches, 12U);
}

TEST(DryRunText, SaysPassesSecondsAndMemory) {
  capture::ProfileOptions options;
  options.samples = 3;
  const std::string prices = dry_run_text(plan(), options, std::nullopt);
  EXPECT_THAT(prices, HasSubstr("2 in 9 passes, counters of each multiprocessor among them"));
  EXPECT_THAT(prices, HasSubstr("kernel replay     189 ms"));
  EXPECT_THAT(prices, HasSubstr("299 MB"));
  EXPECT_THAT(prices, HasSubstr("sm__throughput.avg  sm        in each multiprocessor             8"));
  EXPECT_THAT(prices, Not(HasSubstr("Launches    ")));
  EXPECT_THAT(prices, Not(HasSubstr("\033")));
  EXPECT_LT(prices.find("189 ms"), prices.find("Not offered")) << "what is not offered comes last";
  EXPECT_THAT(prices, HasSubstr("1 of the sections' metrics"));
  DryRun earlier = plan();
  earlier.earlier_run = "run_dldb.sqlite";
  const std::string totals = dry_run_text(earlier, options, std::vector<ConfigLaunches>{{10, false}, {1, false}});
  EXPECT_THAT(totals, HasSubstr("11 launches of 2 configurations"));
  EXPECT_THAT(totals, HasSubstr("378 ms")) << "two replays";
  EXPECT_THAT(totals, HasSubstr("With a framework: 4 launches in windows, "));
}

TEST(DryRunText, OfNoMeasuringSaysSo) {
  capture::ProfileOptions options;
  options.collect = capture::Collect::none;
  EXPECT_THAT(dry_run_text(plan(), options, std::nullopt), HasSubstr("nothing is measured"));
  options.collect = capture::Collect::sample;
  EXPECT_THAT(dry_run_text(plan(), options, std::nullopt), HasSubstr("GPUs are sampled"));
  EXPECT_THAT(dry_run_text(plan(), options, std::nullopt), Not(HasSubstr("Costs are")));
}

}  // namespace
}  // namespace dlkprof::cli::dry_run_test
