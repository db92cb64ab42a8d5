#include "advise/run_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/aggregate/steady_range.h"
#include "support/timeline_builder.h"

namespace dlkprof::advise {
namespace {

using test::TimelineBuilder;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr const char* kKeyNode = "Optimizer.zero_grad#SGD.zero_grad";
constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";

// Steps of 100 ns that end with the key node at 70: kernel `a` for 10 + i ns and `b` for 20 ns, in ops of their own.
TimelineBuilder steps(std::int64_t count) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = 100 * i;
    builder.range("op_a", at, at + 10).launch("a", at + 2, at + 5, at + 15 + i);
    builder.range("op_b", at + 20, at + 40).launch("b", at + 22, at + 30, at + 50);
    builder.range(kKeyNode, at + 60, at + 70);
  }
  return builder;
}

// A GPU of 100 SMs, each of which holds 2 blocks of 1024 threads.
void describe_gpu(model::Timeline& timeline) {
  capture::DeviceRecord& gpu = timeline.devices[0].record;
  gpu = {.index = 0,
         .name = "GPU",
         .chip = "GH100",
         .cc_major = 9,
         .cc_minor = 0,
         .sm_count = 100,
         .warp_size = 32,
         .max_threads_per_sm = 2048,
         .max_threads_per_block = 1024,
         .max_blocks_per_sm = 32,
         .registers_per_sm = 65536,
         .registers_per_block = 65536,
         .shared_per_sm = 233472,
         .shared_per_block = 49152,
         .shared_per_block_optin = 232448,
         .shared_reserved_per_block = 1024};
  timeline.functions = {{0, {.id = 1, .registers_per_thread = 16, .max_threads_per_block = 1024}}};
  for (model::Config& config : timeline.configs) {
    config.key.function = 1;
    config.key.block = {1024, 1, 1};
  }
}

struct Made {
  explicit Made(model::Timeline made, const model::FoldOptions& options = {}) {
    profile.timeline = std::move(made);
    profile.fold = model::fold(profile.timeline, options);
    const model::SteadyRange steady = model::find_steady_range(profile.fold);
    figures = part(steady.first, steady.last);
  }
  [[nodiscard]] RunFigures part(std::uint32_t first, std::uint32_t last) const {
    model::Profile some = profile;
    some.aggregate.first_iteration = first;
    some.aggregate.last_iteration = last;
    return figures_of(some);
  }
  [[nodiscard]] const OpFigures& op(const std::string& name) const { return op_of(figures, name); }
  static const OpFigures& op_of(const RunFigures& run, const std::string& name) {
    const auto found = std::find_if(run.ops.begin(), run.ops.end(), [&](const OpFigures& op) { return op.name == name; });
    if (found == run.ops.end()) throw std::runtime_error("no op " + name);
    return *found;
  }

  model::Profile profile;
  RunFigures figures;
};

TEST(RunFiguresTest, LeavesOutTheFirstAndTheLastIteration) {
  const Made made(steps(5).build());  // iterations from 0, 70, 170, 270, 370 and 470
  EXPECT_TRUE(made.figures.has_iterations);
  EXPECT_EQ(made.figures.first, 1U);
  EXPECT_EQ(made.figures.last, 4U);
  EXPECT_THAT(made.figures.iteration_ns, ElementsAre(100, 100, 100, 100));
  EXPECT_DOUBLE_EQ(made.figures.iteration.median, 100);
  EXPECT_THAT(made.op("/op_a").gpu_ns, ElementsAre(11, 12, 13, 14));
  EXPECT_DOUBLE_EQ(made.op("/op_a").gpu.median, 12.5);
  EXPECT_DOUBLE_EQ(made.op("/op_a").mean_gpu_ns, 12.5);
  EXPECT_THAT(made.figures.gpu_ns, ElementsAre(31, 32, 33, 34));
  EXPECT_DOUBLE_EQ(made.figures.kernels.median, 2);
  EXPECT_DOUBLE_EQ(made.figures.launches.median, 2);
  EXPECT_DOUBLE_EQ(made.figures.copies.median, 0);
}

TEST(RunFiguresTest, KeepsToTheIterationsAskedFor) {
  const Made made(steps(5).build());
  const RunFigures part = made.part(2, 5);
  EXPECT_EQ(part.first, 2U);
  EXPECT_EQ(part.last, 5U);
  EXPECT_THAT(Made::op_of(part, "/op_a").gpu_ns, ElementsAre(12, 13, 14, 0));
}

TEST(RunFiguresTest, WithoutWholeIterationsTheRunStandsForOne) {
  for (const std::int64_t count : {0, 1}) {
    TimelineBuilder builder = steps(count);
    builder.range("alone", 200, 300).launch("c", 210, 220, 250);
    const Made made(builder.build());
    EXPECT_FALSE(made.figures.has_iterations);
    EXPECT_THAT(made.figures.iteration_ns, SizeIs(1));
    EXPECT_THAT(made.op("/alone").gpu_ns, ElementsAre(30));
    EXPECT_EQ(made.figures.samples_per_second(), std::nullopt);
  }
}

TEST(RunFiguresTest, AnEmptyRunHasNoFigures) {
  const Made made(TimelineBuilder().build());
  EXPECT_THAT(made.figures.ops, IsEmpty());
  EXPECT_FALSE(made.figures.utilization);
  EXPECT_FALSE(made.figures.tensor_core_share);
  EXPECT_FALSE(made.figures.fill.idle_sms);
  EXPECT_FALSE(made.figures.measured.share);
  EXPECT_FALSE(made.figures.batch_size);
}

TEST(RunFiguresTest, UtilizationCountsOverlapOnceAndCutsAtIterations) {
  TimelineBuilder builder = steps(5);
  // From 170 to 270 both kernels of the step run for 12 (at 205) and 20 ns (at 230); this one covers 240 to 280.
  builder.range("op_c", 110, 112).launch("c", 111, 240, 280);
  const Made made(builder.build());
  ASSERT_TRUE(made.figures.utilization);
  EXPECT_EQ(made.figures.utilization->n, 4U);
  // Iterations 1 to 4: 31; 12 + 10 + 30; 10 + 13 + 20; 34 of 100 ns.
  EXPECT_DOUBLE_EQ(made.figures.utilization->median, (0.34 + 0.43) / 2);
}

TEST(RunFiguresTest, UtilizationIsAMeanOverGpus) {
  TimelineBuilder builder = steps(5);
  builder.device();
  const Made made(builder.build());
  EXPECT_DOUBLE_EQ(made.figures.utilization->median, 0.325 / 2);
}

TEST(RunFiguresTest, AGraphIsLaunchedOnce) {
  TimelineBuilder builder = steps(4);
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::uint32_t call = builder.call("cuGraphLaunch", 100 * i + 52, 100 * i + 54);
    builder.activity(call, "g1", 100 * i + 52, 100 * i + 53).activity(call, "g2", 100 * i + 53, 100 * i + 54);
  }
  model::Timeline timeline = builder.build();
  for (model::Activity& activity : timeline.activities)
    activity.in_graph = timeline.kernels[activity.kernel].name.starts_with("g");
  const Made made(std::move(timeline));
  EXPECT_DOUBLE_EQ(made.figures.kernels.median, 4);
  EXPECT_DOUBLE_EQ(made.figures.launches.median, 3);
}

TEST(RunFiguresTest, CopiesAreNoKernels) {
  TimelineBuilder builder = steps(4);
  for (std::int64_t i = 0; i < 4; ++i) {
    builder.activity(builder.call("cuMemcpy", 100 * i + 52, 100 * i + 54), "[CUDA memcpy HtoD]", 100 * i + 53, 100 * i + 58);
  }
  const Made made(builder.build());
  EXPECT_DOUBLE_EQ(made.figures.kernels.median, 2);
  EXPECT_DOUBLE_EQ(made.figures.launches.median, 2);
  EXPECT_DOUBLE_EQ(made.figures.copies.median, 1);
}

TEST(RunFiguresTest, OpsThatAreRareHaveNoMedian) {
  TimelineBuilder builder = steps(6);
  builder.range("once", 110, 118).launch("c", 111, 152, 154);
  const Made made(builder.build());
  EXPECT_FALSE(made.op("/once").is_regular());
  EXPECT_EQ(made.op("/once").occurs, 1U);
  EXPECT_DOUBLE_EQ(made.op("/once").mean_gpu_ns, 0.4);
  EXPECT_TRUE(made.op("/op_b").is_regular());
}

TEST(RunFiguresTest, GridsFillTheGpu) {
  model::Timeline timeline = steps(5).build();
  describe_gpu(timeline);
  timeline.configs[0].key.grid = {25, 1, 1};   // a: 75 % of the SMs get none, an eighth of a wave
  timeline.configs[1].key.grid = {30, 10, 1};  // b: one wave and a half
  const Made made(std::move(timeline));
  EXPECT_THAT(made.op("/op_a").fill.idle_sms, Optional(DoubleEq(0.75)));
  EXPECT_THAT(made.op("/op_a").fill.waves, Optional(DoubleEq(0.125)));
  EXPECT_THAT(made.op("/op_a").fill.below_one_wave, Optional(DoubleEq(1)));
  EXPECT_THAT(made.op("/op_b").fill.idle_sms, Optional(DoubleEq(0)));
  EXPECT_THAT(made.op("/op_b").fill.waves, Optional(DoubleEq(1.5)));
  EXPECT_THAT(made.op("/op_b").fill.below_one_wave, Optional(DoubleEq(0)));
  // a takes 11 + 12 + 13 + 14, b 4 * 20 ns.
  EXPECT_THAT(made.figures.fill.idle_sms, Optional(DoubleNear(0.75 * 50 / 130, 1e-12)));
  EXPECT_THAT(made.figures.fill.below_one_wave, Optional(DoubleNear(50.0 / 130, 1e-12)));
}

TEST(RunFiguresTest, UnknownFunctionsAndGpusAreNotGuessed) {
  model::Timeline timeline = steps(5).build();
  describe_gpu(timeline);
  timeline.functions.clear();
  const Made no_function(timeline);
  EXPECT_TRUE(no_function.figures.fill.idle_sms);
  EXPECT_FALSE(no_function.figures.fill.waves);
  EXPECT_FALSE(no_function.figures.fill.below_one_wave);
  describe_gpu(timeline);
  timeline.devices[0].record.sm_count = 0;
  const Made no_gpu(timeline);
  EXPECT_FALSE(no_gpu.figures.fill.idle_sms);
  EXPECT_FALSE(no_gpu.figures.fill.waves);
}

TEST(RunFiguresTest, CountersAreMeansByGpuTime) {
  TimelineBuilder builder = steps(5);
  builder.measured("a", kOccupancy, {10, 30}).measured("b", kOccupancy, {50});
  const Made made(builder.build());
  EXPECT_THAT(made.op("/op_a").measured.occupancy, Optional(DoubleEq(20)));
  EXPECT_THAT(made.figures.measured.occupancy, Optional(DoubleNear((20.0 * 50 + 50.0 * 80) / 130, 1e-12)));
  EXPECT_THAT(made.figures.measured.share, Optional(DoubleEq(1)));
  EXPECT_FALSE(made.figures.measured.dram_rate);
  ASSERT_THAT(made.op("/op_a").kernels, SizeIs(1));
  EXPECT_THAT(made.op("/op_a").kernels[0].measured.occupancy, Optional(DoubleEq(20)));
}

TEST(RunFiguresTest, SaysHowMuchWasMeasured) {
  TimelineBuilder builder = steps(5);
  builder.measured("b", kOccupancy, {50});
  const Made made(builder.build());
  EXPECT_THAT(made.figures.measured.share, Optional(DoubleNear(80.0 / 130, 1e-12)));
  EXPECT_THAT(made.figures.measured.occupancy, Optional(DoubleEq(50)));
  EXPECT_FALSE(made.op("/op_a").measured.share);
}

TEST(RunFiguresTest, CopiesAreNothingToMeasure) {
  TimelineBuilder builder = steps(5);
  for (std::int64_t i = 0; i < 5; ++i) builder.launch("[CUDA memcpy HtoD]", 100 * i + 41, 100 * i + 50, 100 * i + 58);
  builder.measured("b", kOccupancy, {50});
  EXPECT_THAT(Made(builder.build()).figures.measured.share, Optional(DoubleNear(80.0 / 130, 1e-12)));
}

TEST(RunFiguresTest, TensorCoresByNameOfKernels) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 4; ++i) {
    builder.range("op", 100 * i, 100 * i + 50);
    builder.launch("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n", 100 * i + 1, 100 * i + 10, 100 * i + 40);
    builder.launch("relu", 100 * i + 4, 100 * i + 40, 100 * i + 50).range(kKeyNode, 100 * i + 60, 100 * i + 70);
  }
  const Made made(builder.build());
  EXPECT_THAT(made.figures.tensor_core_share, Optional(DoubleEq(0.75)));
  ASSERT_THAT(made.op("/op").kernels, SizeIs(2));
  EXPECT_EQ(made.op("/op").kernels[1].name, "relu");
  EXPECT_DOUBLE_EQ(made.op("/op").kernels[1].gpu_ns, 10);
  EXPECT_DOUBLE_EQ(made.op("/op").kernels[1].launches, 1);
  EXPECT_FALSE(made.op("/op").kernels[1].uses_tc);
}

TEST(RunFiguresTest, TheBatchSizeIsTheFirstThatIsANumber) {
  model::Timeline timeline = steps(12).build();
  timeline.facts = {{"a", "batch_size", "many"}, {"b", "batch_size", "0"}, {"c", "batch_size", "5 "}, {"d", "batch_size", "50"}};
  const Made made(timeline);
  EXPECT_THAT(made.figures.batch_size, Optional(50U));
  EXPECT_THAT(made.figures.samples_per_second(), Optional(DoubleEq(50 / 100e-9)));
  EXPECT_THAT(made.figures.per_sample(100), Optional(DoubleEq(2)));
  timeline.facts = {{"a", "batch_size", "-4"}, {"a", "batch_size", "99999999999999999999999"}};
  EXPECT_FALSE(Made(timeline).figures.batch_size);
}

}  // namespace
}  // namespace dlkprof::advise
