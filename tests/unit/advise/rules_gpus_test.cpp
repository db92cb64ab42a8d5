#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/found.h"

namespace dlkprof::advise {
namespace {

using test::fires;
using test::found;
using test::TimelineBuilder;
using testing::HasSubstr;

// GPU 0 is busy for 800 of 1000 ns, GPU 1 for so many.
test::DiagnosedRun two_gpus(std::int64_t second) {
  TimelineBuilder builder;
  const std::uint32_t other = builder.device();
  builder.launch("a", 0, 100, 900).launch("b", 10, 100, 100 + second, 0, other).range("all", 0, 1000);
  return test::DiagnosedRun(builder);
}

TEST(GpuImbalance, FiresWhereOneIsUsedMuchLess) {
  const Findings findings = found(two_gpus(200).profile(), "gpu_imbalance");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("GPU 1 was busy for 25 % of the time that GPU 0 was"));
  EXPECT_EQ(findings[0].bound_ns, 300) << "800 is 300 above the mean of 800 and 200";
}

TEST(GpuImbalance, IsSilentWhereTheyShareTheWork) {
  EXPECT_FALSE(fires(two_gpus(400).profile(), "gpu_imbalance")) << "half is the threshold";
  EXPECT_FALSE(fires(test::DiagnosedRun(TimelineBuilder().launch("a", 0, 100, 900)).profile(), "gpu_imbalance"));
}

TEST(GpuUnderused, FiresBelowHalfOfTheTime) {
  test::DiagnosedRun run(TimelineBuilder().range("all", 0, 1000).launch("a", 0, 100, 400));
  const Findings findings = found(run.profile(), "gpu_underused");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("busy for 30 %"));
  EXPECT_NEAR(static_cast<double>(*findings[0].bound_ns), 700, 1);
}

TEST(GpuUnderused, FiresForGpusThatDoNothing) {
  test::DiagnosedRun run(TimelineBuilder().range("all", 0, 1000).launch("a", 0, 100, 900));
  const Findings findings = found(run.fact("gpus.visible", "4").profile(), "gpu_underused");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("Of 4 GPUs that the program saw 1 did anything"));
}

TEST(GpuUnderused, IsSilentWhereGpusAreBusy) {
  test::DiagnosedRun run(TimelineBuilder().range("all", 0, 1000).launch("a", 0, 100, 600));
  EXPECT_FALSE(fires(run.fact("gpus.visible", "1").profile(), "gpu_underused"));
  EXPECT_FALSE(fires(test::DiagnosedRun(TimelineBuilder().range("all", 0, 1000)).profile(), "gpu_underused"))
      << "a program without GPU work is none";
}

TEST(GpuUnderused, WhatTheProfilerAddsIsNotThePrograms) {
  test::DiagnosedRun run(TimelineBuilder().range("all", 0, 1000).launch("a", 0, 100, 400));
  const model::Profile& profile = run.profile();
  EXPECT_TRUE(fires(profile, "gpu_underused"));
  run.aggregate().summary.undisturbed = {.n = 50, .median_ns = 500, .mean_ns = 500};
  EXPECT_FALSE(fires(profile, "gpu_underused")) << "busy for 60 %";
  run.aggregate().summary.undisturbed->mean_ns = 800;
  const Findings findings = found(profile, "gpu_underused");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("busy for 37.5 % of the wall clock without the profiler"));
  EXPECT_NEAR(static_cast<double>(*findings[0].bound_ns), 500, 1);
}

// Ten kernels of 10 ns each, called every so many ns.
test::DiagnosedRun paced(std::int64_t pace) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 10; ++i) builder.launch("k", pace * i, pace * i + 4, pace * i + 14);
  return test::DiagnosedRun(builder);
}

TEST(LaunchBound, FiresWhereTheGpuWaits) {
  const Findings findings = found(paced(100).profile(), "launch_bound");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("Before 90 % of all launches"));
  EXPECT_EQ(findings[0].bound_ns, 9 * 90) << "between each and the next";
}

TEST(LaunchBound, ComesBeforeTheIdleGpuThatItBringsAbout) {
  test::DiagnosedRun run = paced(100);
  const Findings idle = found(run.profile(), "gpu_underused");
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_THAT(idle[0].problem, HasSubstr("is time before launches that they waited for"));
  EXPECT_LT(idle[0].bound_ns, 10) << "of the idle time 810 ns are the launches'";
  EXPECT_STREQ(diagnose(run.profile()).at(0).rule->name, "launch_bound");
}

TEST(LaunchBound, IsSilentWhereTheProfilerMadeTheGpuWait) {
  test::DiagnosedRun run = paced(100);
  const model::Profile& profile = run.profile();
  run.aggregate().summary.undisturbed = {.n = 50, .median_ns = 40, .mean_ns = 40};
  EXPECT_EQ(found(profile, "launch_bound").at(0).bound_ns, 9 * 90 - (914 - 11 * 40)) << "of 11 iterations";
  run.aggregate().summary.undisturbed->mean_ns = 9;
  EXPECT_FALSE(fires(profile, "launch_bound"));
}

TEST(LaunchBound, ClocksFurtherApartThanTheGpuIsIdleTellNothing) {
  test::DiagnosedRun run = paced(100);
  run.timeline().processes[0].gpu_early_ns = 50;  // idle for about 80 in each iteration
  EXPECT_TRUE(fires(run.profile(), "launch_bound"));
  run.timeline().processes[0].gpu_early_ns = 5'000'000;
  EXPECT_FALSE(fires(run.profile(), "launch_bound"));
  const Findings idle = found(run.profile(), "gpu_underused");
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_THAT(idle[0].problem, HasSubstr("GPU and CPU clocks may be 5 ms apart"));
  EXPECT_GT(idle[0].bound_ns, 800);
}

TEST(LaunchBound, AdvisesProgramsOfJaxInTheirWords) {
  const auto advice = [](const std::string& domain, const std::string& message) {
    TimelineBuilder builder;
    for (std::int64_t i = 0; i < 10; ++i) {
      builder.range(message, 100 * i, 100 * i + 5, 0, {.domain = domain}).launch("k", 100 * i, 100 * i + 4, 100 * i + 14);
    }
    test::DiagnosedRun run(builder);
    return found(run.profile(), "launch_bound").at(0).recommendation;
  };
  EXPECT_THAT(advice("TSL", "XlaModule:#hlo_module=jit_step,program_id=1#"), HasSubstr("jax.jit"));
  EXPECT_THAT(advice("TSL", "XlaModule:#hlo_module=cluster_1,program_id=1#"), HasSubstr("torch.compile")) << "of TensorFlow";
  EXPECT_THAT(advice("", "/jit_step"), HasSubstr("torch.compile")) << "a range of the program's own";
}

TEST(LaunchBound, IsSilentWhereItDoesNot) { EXPECT_FALSE(fires(paced(20).profile(), "launch_bound")) << "idle for 10 at most"; }

}  // namespace
}  // namespace dlkprof::advise
