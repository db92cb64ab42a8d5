#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/found.h"

namespace dlkprof::advise::rules_triage_test {
namespace {

using test::fires;
using test::found;
using test::kMemoryThroughput;
using test::kSmThroughput;
using test::TimelineBuilder;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kDuration = "gpu__time_duration.sum";
constexpr const char* kIssue = "smsp__issue_active.avg.pct_of_peak_sustained_active";
constexpr const char* kIssued = "sm__inst_issued.avg.pct_of_peak_sustained_active";
constexpr const char* kFp64 = "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active";
constexpr const char* kXu = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active";
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kActive = "smsp__thread_inst_executed_per_inst_executed.ratio";
constexpr const char* kUnmasked = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio";
constexpr const char* kLong = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
constexpr const char* kSelected = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio";

// One kernel of 20 us that fills the GPU, with these metrics.
test::DiagnosedRun one_kernel(const Values& values, const std::string& name = "k", std::int64_t ns = 20'000) {
  TimelineBuilder builder;
  builder.launch(name, 0, 10, 10 + ns);
  for (const auto& [metric, value] : values) builder.measured(name, metric.text(), {value});
  test::DiagnosedRun run(builder);
  run.launched(name, {10000, 1, 1}, {256, 1, 1});
  return run;
}
bool fires_with(const Values& values, const char* rule) { return fires(one_kernel(values).profile(), rule); }

// --- Figures ----------------------------------------------------------------------------------------------------------

TEST(DoubtfulFigures, FireWhereDurationsAreFarApart) {
  const Findings findings = found(one_kernel({{kDuration, 41'000}}).profile(), "doubtful_figures");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem, HasSubstr("it took 41 us where it was measured and 20 us elsewhere"));
  EXPECT_EQ(findings[0].bound_ns, std::nullopt);
  EXPECT_FALSE(fires_with({{kDuration, 39'000}}, "doubtful_figures"));
}

TEST(DoubtfulFigures, AreNotToldByShortKernels) {
  EXPECT_FALSE(fires(one_kernel({{kDuration, 9'000}}, "k", 3'000).profile(), "doubtful_figures"));
  EXPECT_FALSE(fires(one_kernel({{kDuration, 9'000}}).profile(), "doubtful_figures")) << "one of them is";
}

// --- Warps ------------------------------------------------------------------------------------------------------------

TEST(PartialWarps, FireWhereABlockIsNoMultipleOfAWarp) {
  test::DiagnosedRun run = one_kernel({});
  const Findings findings = found(run.launched("k", {10000, 1, 1}, {10, 5, 1}).profile(), "partial_warps");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem, HasSubstr("50 threads: 14 of the last warp's 32"));
  EXPECT_EQ(findings[0].bound_ns, 4375);  // 14 of 64
  EXPECT_FALSE(fires(one_kernel({}).profile(), "partial_warps"));
}

TEST(PartialWarps, OfLibrariesAreNobodysToChange) {
  test::DiagnosedRun run = one_kernel({}, "void cublas_kernel");
  EXPECT_FALSE(fires(run.launched("void cublas_kernel", {10000, 1, 1}, {50, 1, 1}).profile(), "partial_warps"));
}

TEST(MaskedThreads, FireWherePredicatesTurnThemOff) {
  const Findings findings = found(one_kernel({{kActive, 32}, {kUnmasked, 16}}).profile(), "masked_threads");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].bound_ns, 10'000);
  EXPECT_FALSE(fires_with({{kActive, 32}, {kUnmasked, 24}}, "masked_threads"));
  EXPECT_FALSE(fires_with({{kActive, 19}, {kUnmasked, 16}}, "masked_threads")) << "branches do";
  EXPECT_FALSE(fires_with({{kUnmasked, 16}}, "masked_threads"));
}

// --- Issue ------------------------------------------------------------------------------------------------------------

Values starved(double issue, double sm, double memory) {
  return {{kIssue, issue}, {kSmThroughput, sm}, {kMemoryThroughput, memory}, {kLong, 9}, {kSelected, 1}};
}

TEST(StarvedIssue, SaysWhatWarpsWaitFor) {
  const Findings findings = found(one_kernel(starved(12, 30, 40)).profile(), "starved_issue");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem, HasSubstr("issue in 12 % of the cycles"));
  EXPECT_THAT(findings[0].problem, HasSubstr("long_scoreboard (90 % of their cycles)"));
  EXPECT_THAT(findings[0].recommendation, HasSubstr("more loads in flight"));
  EXPECT_EQ(findings[0].bound_ns, 12'000);
}

TEST(StarvedIssue, OfALibraryIsNotMendedInItsCode) {
  EXPECT_THAT(found(one_kernel(starved(12, 30, 40), "sm80_xmma_gemm").profile(), "starved_issue").at(0).recommendation,
              HasSubstr("cannot be changed"));
}

TEST(StarvedIssue, IsSilentWhereSomethingIsBusyOrTheGridIsSmall) {
  EXPECT_FALSE(fires_with(starved(20, 30, 40), "starved_issue"));
  EXPECT_FALSE(fires_with(starved(12, 30, 60), "starved_issue"));
  EXPECT_FALSE(fires_with(starved(12, 60, 40), "starved_issue"));
  Values on_tensor_cores = starved(12, 30, 40);
  on_tensor_cores[kTensor] = 70;
  EXPECT_FALSE(fires_with(on_tensor_cores, "starved_issue"));
  test::DiagnosedRun small = one_kernel(starved(12, 30, 40));
  EXPECT_FALSE(fires(small.launched("k", {131, 1, 1}, {256, 1, 1}).profile(), "starved_issue"));
  EXPECT_FALSE(fires_with({{kIssue, 12}}, "starved_issue"));
}

TEST(SlowPipe, NamesThePipe) {
  const Findings findings = found(one_kernel({{kSmThroughput, 90}, {kIssued, 10}, {kFp64, 95}, {kXu, 5}}).profile(), "slow_pipe");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem, HasSubstr("double precision is busy 95 % of the time"));
  EXPECT_EQ(findings[0].bound_ns, 18'000);
  EXPECT_THAT(found(one_kernel({{kSmThroughput, 90}, {kIssued, 10}, {kXu, 70}}).profile(), "slow_pipe").at(0).problem,
              HasSubstr("special functions"));
  EXPECT_FALSE(fires_with({{kSmThroughput, 90}, {kIssued, 20}, {kFp64, 95}}, "slow_pipe"));
  EXPECT_FALSE(fires_with({{kSmThroughput, 60}, {kIssued, 10}, {kFp64, 95}}, "slow_pipe"));
  EXPECT_FALSE(fires_with({{kSmThroughput, 90}, {kIssued, 10}, {kFp64, 60}}, "slow_pipe")) << "tensor cores, say";
}

// --- Multiprocessors --------------------------------------------------------------------------------------------------

Values uneven(double most) { return {{"sm__cycles_active.avg", 1000}, {"sm__cycles_active.max", most}}; }

TEST(UnevenMultiprocessors, AreToldBeyondWhatTheLastWaveExplains) {
  const Findings findings = found(one_kernel(uneven(1500)).profile(), "uneven_sms");  // 10 waves, of which the last is not full
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem,
              AllOf(StartsWith("In k"),
                    HasSubstr("GPU time, the busiest multiprocessor works 1.5 times as long as they do on average.")));
  EXPECT_NEAR(static_cast<double>(findings[0].bound_ns.value_or(0)), 20'000 * (1 - 1056.0 / 1000 / 1.5), 1);
  EXPECT_FALSE(fires_with(uneven(1250), "uneven_sms"));
  test::DiagnosedRun tail = one_kernel(uneven(1500));
  EXPECT_FALSE(fires(tail.launched("k", {1584, 1, 1}, {256, 1, 1}).profile(), "uneven_sms")) << "a wave and a half";
}

TEST(UnevenMultiprocessors, OfALibraryAreNotMendedInItsCode) {
  EXPECT_THAT(found(one_kernel(uneven(1500), "cudnn_generated_fort_native_sdpa").profile(), "uneven_sms").at(0).recommendation,
              HasSubstr("cannot be changed"));
}

TEST(UnevenMultiprocessors, AreNotToldOfSmallGridsOrWithoutFigures) {
  test::DiagnosedRun small = one_kernel(uneven(3000));
  EXPECT_FALSE(fires(small.launched("k", {131, 1, 1}, {256, 1, 1}).profile(), "uneven_sms"));
  EXPECT_FALSE(fires_with({{"sm__cycles_active.avg", 1000}}, "uneven_sms"));
  EXPECT_FALSE(fires_with({{"sm__cycles_active.avg", 0}, {"sm__cycles_active.max", 0}}, "uneven_sms"));
}

// --- Lines ------------------------------------------------------------------------------------------------------------

// Kernel 0 with so many samples at line 7 that wait, that do not, and elsewhere.
const model::Profile& sampled(test::DiagnosedRun& run, std::uint64_t waiting, std::uint64_t issuing, std::uint64_t elsewhere) {
  model::PcSamples& samples = run.timeline().pc_samples;
  samples.reasons = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_warps_issue_stalled_selected"};
  samples.functions = {{0, 11}};
  samples.files = {"", "/src/model.cu"};
  samples.instructions = {{0, 0, 1, 7}, {0, 16, 1, 7}, {0, 32, 1, 8}, {0, 48, 0, 0}};
  samples.stalls = {{0, 0, waiting, waiting},
                    {1, 1, issuing, issuing},
                    {2, 1, elsewhere / 2, elsewhere / 2},
                    {3, 1, elsewhere - elsewhere / 2, elsewhere - elsewhere / 2}};
  samples.totals = {{.shortest_log2 = 17, .longest_log2 = 17, .samples = waiting + issuing + elsewhere}};
  return run.profile();
}

TEST(HotLine, PointsToIt) {
  test::DiagnosedRun run = one_kernel({});
  const Findings findings = found(sampled(run, 150, 50, 200), "hot_line");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(
      findings[0].problem,
      "100 % of the stalls of k are at /src/model.cu:7, where warps wait for a load from memory (long_scoreboard): 50 % of its "
      "samples are there.");
  EXPECT_THAT(findings[0].recommendation, StartsWith("At model.cu:7: Have more loads in flight"));
  EXPECT_THAT(findings[0].basis, HasSubstr("200 samples at the line"));
  EXPECT_EQ(findings[0].bound_ns, 7500);
}

TEST(HotLine, GivesTheShareOfAllStallsOfTheKernel) {
  test::DiagnosedRun run = one_kernel({});
  (void)sampled(run, 150, 50, 200);
  run.timeline().pc_samples.stalls[2].reason = 0;  // 100 samples wait elsewhere
  EXPECT_THAT(found(run.profile(), "hot_line").at(0).problem, StartsWith("60 % of the stalls of k are at /src/model.cu:7"));
}

TEST(HotLine, IsSilentWhereSamplesSayLittle) {
  for (const auto& [waiting, issuing, elsewhere] : {std::tuple{60, 30, 90}, {150, 50, 600}, {50, 150, 200}, {0, 0, 400}}) {
    test::DiagnosedRun run = one_kernel({});
    EXPECT_FALSE(fires(sampled(run, waiting, issuing, elsewhere), "hot_line")) << waiting << ' ' << issuing << ' ' << elsewhere;
  }
}

TEST(HotLine, NamesOfFilesCannotDriveTheTerminal) {
  test::DiagnosedRun run = one_kernel({});
  (void)sampled(run, 150, 50, 200);
  run.timeline().pc_samples.files[1] = "\x1b[2J.cu";
  EXPECT_THAT(found(run.profile(), "hot_line").at(0).problem, HasSubstr("\\x1b[2J.cu:7"));
}

// Kernel 0, of which two instructions of line 7 and one of line 8 ask for sectors.
const model::Profile& counted(test::DiagnosedRun& run, std::uint64_t asked, std::uint64_t needed, std::uint64_t elsewhere) {
  model::PcSamples& samples = run.timeline().pc_samples;
  samples.functions = {{0, 11}};
  samples.files = {"", "/src/model.cu"};
  samples.instructions = {{0, 0, 1, 7}, {0, 16, 1, 7}, {0, 32, 1, 8}, {0, 48, 0, 0}};
  samples.sass_metrics = {"smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal"};
  samples.counts = {{0, 0, 0, asked}, {0, 0, 1, needed}, {1, 0, 0, 4}, {1, 0, 1, 4}, {2, 0, 0, elsewhere}, {2, 0, 1, elsewhere}};
  return run.profile();
}

TEST(UncoalescedLine, SaysWhichPartOfItsSectorsIsNotNeeded) {
  test::DiagnosedRun run = one_kernel({});
  const Findings findings = found(counted(run, 96, 16, 60), "uncoalesced_line");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(
      findings[0].problem,
      "Of the sectors of global memory that /src/model.cu:7 asks for in k, 80 % are more than its threads need: 50 % of all "
      "that the kernel asks for.");
  EXPECT_EQ(findings[0].basis, "instructions counted in 1 launch");
  EXPECT_EQ(findings[0].bound_ns, 10000);
}

TEST(UncoalescedLine, IsSilentWhereLittleIsInExcess) {
  for (const auto& [asked, needed, elsewhere] : {std::tuple{96, 50, 0}, {96, 16, 900}, {0, 0, 100}, {16, 96, 0}}) {
    test::DiagnosedRun run = one_kernel({});
    EXPECT_FALSE(fires(counted(run, asked, needed, elsewhere), "uncoalesced_line")) << asked << ' ' << needed << ' ' << elsewhere;
  }
}

TEST(UncoalescedLine, IsOfLinesThatAreKnown) {
  test::DiagnosedRun run = one_kernel({});
  (void)counted(run, 96, 16, 60);
  for (model::PcInstruction& at : run.timeline().pc_samples.instructions) at.line = 0;
  EXPECT_FALSE(fires(run.profile(), "uncoalesced_line"));
}

}  // namespace
}  // namespace dlkprof::advise::rules_triage_test
