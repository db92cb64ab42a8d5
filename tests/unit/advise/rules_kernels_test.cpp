#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/found.h"

namespace dlkprof::advise {
namespace {

using test::fires;
using test::found;
using test::TimelineBuilder;
using testing::HasSubstr;

// One kernel of 1000 ns, with these metrics.
test::DiagnosedRun one_kernel(const Values& values) {
  TimelineBuilder builder;
  builder.launch("k", 0, 10, 1010);
  for (const auto& [metric, value] : values) builder.measured("k", metric.text(), {value});
  test::DiagnosedRun run(builder);
  run.launched("k", {10000, 1, 1}, {256, 1, 1});
  return run;
}

TEST(SmallGrid, FiresWhereMultiprocessorsGetNoBlock) {
  test::DiagnosedRun run = one_kernel({});
  const Findings findings = found(run.launched("k", {33, 1, 1}, {256, 1, 1}).profile(), "small_grid");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("33 blocks for 132 multiprocessors"));
  EXPECT_EQ(findings[0].bound_ns, 750);
  EXPECT_EQ(findings[0].where, "k");
}

TEST(SmallGrid, IsSilentWhereTheGridFillsTheGpu) {
  EXPECT_FALSE(fires(one_kernel({}).profile(), "small_grid"));
  test::DiagnosedRun most = one_kernel({});
  EXPECT_FALSE(fires(most.launched("k", {80, 1, 1}, {256, 1, 1}).profile(), "small_grid")) << "61 % of them";
  test::DiagnosedRun unknown = one_kernel({});
  unknown.launched("k", {1, 1, 1}, {256, 1, 1}).timeline().devices[0].record = {};
  EXPECT_FALSE(fires(unknown.profile(), "small_grid"));
}

TEST(SmallGrid, IsSilentOnCollectives) {
  const char* const all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  TimelineBuilder builder;
  builder.launch(all_reduce, 0, 10, 1010);
  test::DiagnosedRun run(builder);
  EXPECT_FALSE(fires(run.launched(all_reduce, {24, 1, 1}, {544, 1, 1}).profile(), "small_grid"));
}

TEST(SmallGrid, KernelsOfNoWeightAreNotWorthAWord) {
  TimelineBuilder builder;
  builder.launch("large", 0, 10, 100'010).launch("small", 5, 100'010, 100'110);
  test::DiagnosedRun run(builder);
  run.launched("large", {10000, 1, 1}, {256, 1, 1}).launched("small", {1, 1, 1}, {32, 1, 1});
  EXPECT_FALSE(fires(run.profile(), "small_grid")) << "0.1 % of the GPU time";
}

// Two ops of the same kernel, and each a launch configuration.
TEST(SmallGrid, SaysWhichOpItIsOf) {
  TimelineBuilder builder;
  builder.range("aten::mm, op_id = 1", 0, 50).range("aten::bmm, op_id = 2", 60, 100);
  builder.launch("gemm", 1, 100, 1100).launch("other gemm", 61, 1200, 2200);
  test::DiagnosedRun run(builder);
  run.launched("gemm", {33, 1, 1}, {256, 1, 1}).launched("other gemm", {33, 1, 1}, {256, 1, 1});
  const Findings findings = found(run.profile(), "small_grid");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_NE(findings[0].problem, findings[1].problem);
  for (const Finding& finding : findings) {
    ASSERT_NE(finding.op, model::kNone);
    EXPECT_THAT(finding.problem, HasSubstr("(" + run.profile().fold.ops[finding.op].id + ")"));
    EXPECT_THAT(finding.basis, HasSubstr("without counters"));
  }
  run.timeline().measured[0]["dram__bytes.sum"] = {1, 2, 3};
  EXPECT_THAT(found(run.profile(), "small_grid").at(0).basis + found(run.profile(), "small_grid").at(1).basis,
              HasSubstr("counters of 3 launches"));
}

TEST(SmallGrid, OfAForeachOptimizerIsOneFinding) {
  TimelineBuilder builder;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = 100 * i;
    builder.range(std::string("aten::_foreach_") + "mlda"[i] + ", op_id = " + std::to_string(i), at, at + 50);
    builder.launch("multi_tensor_apply_kernel", at + 1, 10'000 * (i + 1), 10'000 * (i + 1) + 1000);
  }
  test::DiagnosedRun run(builder);
  run.launched("multi_tensor_apply_kernel", {33, 1, 1}, {512, 1, 1});
  const Findings findings = found(run.profile(), "small_grid");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("fused=True"));
  EXPECT_EQ(findings[0].bound_ns, 2250) << "three quarters of 3,000 ns";
}

TEST(SmallGrid, OfALibraryKernelAsksForMoreWork) {
  TimelineBuilder builder;
  builder.launch("nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", 0, 10, 1010);
  test::DiagnosedRun run(builder);
  run.launched("nvjet_hsh_64x8_64x16_4x1_v_bz_TNT", {44, 1, 1}, {384, 1, 1});
  EXPECT_THAT(found(run.profile(), "small_grid").at(0).recommendation, HasSubstr("cannot be changed"));
}

const Values kHeldByLatency{{test::kSmThroughput, 30}, {test::kMemoryThroughput, 40}};

TEST(RegisterLimited, FiresWhereRegistersKeepWarpsOut) {
  // 128 registers: 16 warps, 25 %; a third block of 8 warps needs 80 (6 warps a quarter: 16,384 / 6 = 2,730, units of 256:
  // 2,560).
  test::DiagnosedRun run = one_kernel(kHeldByLatency);
  const Findings findings = found(run.launched("k", {10000, 1, 1}, {256, 1, 1}, 128).profile(), "register_limited");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].recommendation, HasSubstr("48 registers fewer a thread: 25 % -> 37.5 %"));
  EXPECT_EQ(findings[0].bound_ns, 333) << "a third, were it as much faster as there are more warps";
}

TEST(RegisterLimited, IsSilentOfKernelsThatNobodyCanChange) {
  for (const char* name : {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "k"}) {
    TimelineBuilder builder;
    builder.launch(name, 0, 10, 1010);
    for (const auto& [metric, value] : kHeldByLatency) builder.measured(name, metric.text(), {value});
    test::DiagnosedRun run(builder);
    run.launched(name, {10000, 1, 1}, {256, 1, 1}, 128);
    EXPECT_EQ(fires(run.profile(), "register_limited"), std::string(name) == "k") << name;
  }
}

TEST(RegisterLimited, IsSilentWhereItDoesNotMatter) {
  const auto silent = [](test::DiagnosedRun run) { return !fires(run.profile(), "register_limited"); };
  EXPECT_TRUE(silent(one_kernel(kHeldByLatency).launched("k", {10000, 1, 1}, {256, 1, 1}, 32))) << "full occupancy";
  EXPECT_TRUE(silent(one_kernel(kHeldByLatency).launched("k", {132, 1, 1}, {256, 1, 1}, 128))) << "no block to put there";
  EXPECT_TRUE(silent(
      one_kernel({{test::kSmThroughput, 70}, {test::kMemoryThroughput, 40}}).launched("k", {10000, 1, 1}, {256, 1, 1}, 128)))
      << "at its peak anyway";
  EXPECT_TRUE(silent(one_kernel({}).launched("k", {10000, 1, 1}, {256, 1, 1}, 128))) << "not measured";
}

constexpr const char* kSectorsPerLoad = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
constexpr const char* kSectorsPerStore = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";

TEST(Uncoalesced, FiresWhereEachThreadHasItsOwnSector) {
  const Findings findings = found(one_kernel({{kSectorsPerLoad, 32}, {kSectorsPerStore, 4}}).profile(), "uncoalesced");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("touch 32 sectors with each load"));
  EXPECT_EQ(findings[0].bound_ns, 875) << "4 of 32 sectors would do";
  EXPECT_THAT(found(one_kernel({{kSectorsPerStore, 20}}).profile(), "uncoalesced").at(0).problem, HasSubstr("each store"));
}

TEST(Uncoalesced, IsSilentForWideAccesses) {
  EXPECT_FALSE(fires(one_kernel({{kSectorsPerLoad, 16.0001}, {kSectorsPerStore, 4}}).profile(), "uncoalesced"));
  EXPECT_FALSE(fires(one_kernel({}).profile(), "uncoalesced"));
}

constexpr const char* kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
constexpr const char* kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";

TEST(BankConflicts, FireWhereTheyAreManyOfTheWavefronts) {
  const Findings findings = found(one_kernel({{kWavefronts, 1000}, {kConflicts, 500}}).profile(), "bank_conflicts");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 500);
}

TEST(BankConflicts, AreSilentWhereTheyAreFew) {
  EXPECT_FALSE(fires(one_kernel({{kWavefronts, 1000}, {kConflicts, 250}}).profile(), "bank_conflicts"));
  EXPECT_FALSE(fires(one_kernel({{kWavefronts, 0}, {kConflicts, 0}}).profile(), "bank_conflicts"));
  EXPECT_FALSE(fires(one_kernel({{kConflicts, 500}}).profile(), "bank_conflicts"));
}

constexpr const char* kActiveThreads = "smsp__average_thread_inst_executed_per_inst_executed.ratio";

TEST(Divergence, FiresWhereWarpsRunWithFewOfTheirThreads) {
  const Findings findings = found(one_kernel({{kActiveThreads, 8}}).profile(), "divergence");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("100 % of the GPU time, only 8 are active per instruction"));
  EXPECT_EQ(findings[0].bound_ns, 750);
  EXPECT_TRUE(fires(one_kernel({{"smsp__thread_inst_executed_per_inst_executed.ratio", 23.9}}).profile(), "divergence"))
      << "the name of other chips";
}

TEST(Divergence, IsSilentWhereThreadsStayTogether) {
  EXPECT_FALSE(fires(one_kernel({{kActiveThreads, 24}}).profile(), "divergence"));
  EXPECT_FALSE(fires(one_kernel({{kActiveThreads, 0}}).profile(), "divergence")) << "nothing was executed";
  EXPECT_FALSE(fires(one_kernel({}).profile(), "divergence"));
}

}  // namespace
}  // namespace dlkprof::advise
