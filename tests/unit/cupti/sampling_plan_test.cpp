#include "cupti/sampling_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace dlkprof::cupti::sampling_plan_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kActive = "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kIpc = "TPC.TriageCompute.sm__inst_executed_realtime.avg.per_cycle_active";
constexpr const char* kStall = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
constexpr const char* kHits = "l1tex__t_sector_hit_rate.pct";

Host sampling_hopper() { return Host::create(Library::open(), "GH100", {}, CollectBy::samples); }

TEST(SamplingPlan, OfWhatFitsOnePassIsOneTurn) {
  const SamplingPlan plan = plan_sampling(sampling_hopper(), {{{kActive}}, {{"dram__bytes_read.sum"}}});
  ASSERT_EQ(plan.turns.size(), 1U);
  EXPECT_THAT(plan.turns[0].metrics, ElementsAre(kActive, "dram__bytes_read.sum"));
  EXPECT_EQ(plan.turns[0].passes, 1U);
  EXPECT_FALSE(plan.turns[0].config_image.empty());
  EXPECT_THAT(plan.unavailable, IsEmpty());
}

TEST(SamplingPlan, AddsWeights) {
  const SamplingPlan plan = plan_sampling(sampling_hopper(), {{{kIpc}}, {{kHits}}});
  std::set<std::string> all;
  for (const auto& turn : plan.turns) {
    EXPECT_EQ(turn.passes, 1U);
    all.insert(turn.metrics.begin(), turn.metrics.end());
  }
  EXPECT_THAT(all, Contains("TPC.TriageCompute.sm__cycles_active.sum"));
  EXPECT_THAT(all, Contains("l1tex__t_sectors.sum"));
}

TEST(SamplingPlan, LeavesOutWhatNeedsSeveralPassesOrIsNotThere) {
  const SamplingPlan plan = plan_sampling(sampling_hopper(), {{{kStall}}, {{kActive}}, {{"no__such.sum"}}});
  ASSERT_EQ(plan.turns.size(), 1U);
  EXPECT_THAT(plan.turns[0].metrics, ElementsAre(kActive));
  EXPECT_THAT(plan.unavailable, testing::UnorderedElementsAre(kStall, "no__such.sum"));
}

TEST(SamplingPlan, PutsEachMetricIntoOneTurn) {
  const std::vector<capture::MetricRequest> requests{{{"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"}},
                                                     {{"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"}},
                                                     {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}},
                                                     {{kHits}},
                                                     {{"dram__bytes_read.sum"}}};
  const SamplingPlan plan = plan_sampling(sampling_hopper(), requests);
  EXPECT_GT(plan.turns.size(), 1U);
  for (const auto& request : requests) {
    const auto turns = std::count_if(plan.turns.begin(), plan.turns.end(), [&](const CollectionPlan& turn) {
      return std::count(turn.metrics.begin(), turn.metrics.end(), request.names[0]) == 1;
    });
    EXPECT_EQ(turns, 1) << request.names[0];
  }
}

TEST(SamplingPlan, OfNothingHasNoTurn) { EXPECT_THAT(plan_sampling(sampling_hopper(), {}).turns, IsEmpty()); }

TEST(SamplingWeight, IsTheDenominator) {
  EXPECT_EQ(sampling_weight("sm__warps_active.avg.pct_of_peak_sustained_active"), "sm__cycles_active.sum");
  EXPECT_EQ(sampling_weight(kIpc), "TPC.TriageCompute.sm__cycles_active.sum");
  EXPECT_EQ(sampling_weight("TPC.TriageCompute.tpc__warps_active_realtime.avg.pct_of_peak_sustained_active"),
            "TPC.TriageCompute.sm__cycles_active.sum");
  EXPECT_EQ(sampling_weight(kHits), "l1tex__t_sectors.sum");
}

TEST(SamplingWeight, IsTimeForCountsAndRatesAndSharesOfTime) {
  EXPECT_EQ(sampling_weight("dram__bytes.sum"), std::nullopt);
  EXPECT_EQ(sampling_weight("dram__bytes.sum.per_second"), std::nullopt);
  EXPECT_EQ(sampling_weight(kActive), std::nullopt);
  EXPECT_EQ(sampling_weight(""), std::nullopt);
}

}  // namespace
}  // namespace dlkprof::cupti::sampling_plan_test
