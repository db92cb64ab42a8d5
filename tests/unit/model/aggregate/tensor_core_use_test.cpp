#include "model/aggregate/tensor_core_use.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "support/timeline_builder.h"

namespace dlkprof::model::tensor_core_use_test {
namespace {

using test::TimelineBuilder;

const std::string kShare = "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";
const std::string kActive = "TPC.TriageCompute.sm__cycles_active.avg";
const std::string kActiveShare = "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTensorKernel =
    "sm90_xmma_dgrad_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize256x32x32_warpgroupsize1x1x1_g1";

struct Kernel {
  std::string name;
  capture::Dim3 grid, block;
  std::int64_t length_ns = 0;
  double share = 0, interval = 0;  // per cent; a negative interval is none
  double active_cycles = 0, active_share = 0;
};

// A run of these on an H200, one launch after the other, all of them sampled.
Timeline sampled_run(const std::vector<Kernel>& kernels) {
  TimelineBuilder builder;
  std::int64_t now = 1000;
  for (const Kernel& kernel : kernels) {
    builder.launch(kernel.name, now - 500, now, now + kernel.length_ns);
    now += kernel.length_ns;
    SampledFigure figure{.samples = 200, .launches = 68, .mean = kernel.share};
    if (kernel.interval >= 0) figure.interval = kernel.interval;
    builder.sampled(kernel.name, kShare, figure);
    builder.sampled(kernel.name, kActive, {.samples = 200, .launches = 68, .mean = kernel.active_cycles});
    builder.sampled(kernel.name, kActiveShare, {.samples = 200, .launches = 68, .mean = kernel.active_share});
  }
  Timeline timeline = builder.build();
  timeline.devices.at(0).record.sm_count = 132;
  for (const Kernel& kernel : kernels) {
    for (Config& config : timeline.configs) {
      if (timeline.kernels[config.kernel].name != kernel.name) continue;
      config.key.grid = kernel.grid;
      config.key.block = kernel.block;
    }
  }
  return timeline;
}

TensorCoreUse use_of(const Timeline& timeline, const std::string& name) {
  const TensorCoreTable table(timeline);
  for (std::uint32_t config = 0; config < timeline.configs.size(); ++config) {
    const std::uint32_t kernel = timeline.configs[config].kernel;
    if (timeline.kernels[kernel].name == name) return table.of(kernel, config);
  }
  ADD_FAILURE() << name;
  return {};
}

// A network of convolutions at batch size 512 as an H200 was sampled with it: figures of its largest kernels. Those of ordinary
// arithmetic have cycles of the tensor pipe, sure to a few per cent of them: half a cycle for each constant that a warp loads.
TEST(SampledTensorCoreUse, IsOfKernelsThatMultiplyMatrices) {
  const Timeline run = sampled_run({
      {kTensorKernel, {256, 1, 1}, {384, 1, 1}, 147'479, 24.217, 0.173, 254'504, 95.7},
      {"sm80_xmma_wgrad_implicit_gemm_indexed_wo_smem_tf32f32_tf32f32_tensor16x8x8",
       {64, 1, 1},
       {64, 1, 1},
       274'337,
       1.118,
       0.003,
       382'627,
       80.7},
      {"elementwise_kernel", {131072, 1, 1}, {128, 1, 1}, 81'200, 3.661, 0.051, 159'041, 99},
      {"reduce_kernel", {512, 1, 1}, {512, 1, 1}, 53'478, 2.237, 0.048, 89'066, 84.6},
      {"max_pool_backward_nchw", {32768, 1, 1}, {256, 1, 1}, 263'349, 0.597, 0.001, 518'596, 99.6},
      {"nchwToNhwcKernel", {32768, 1, 1}, {256, 1, 1}, 59'193, 0.673, 0.004, 115'833, 98.9},
  });
  EXPECT_TRUE(use_of(run, kTensorKernel).uses);
  EXPECT_EQ(use_of(run, kTensorKernel).source, TensorCoreSource::counter);
  EXPECT_TRUE(use_of(run, "sm80_xmma_wgrad_implicit_gemm_indexed_wo_smem_tf32f32_tf32f32_tensor16x8x8").uses);
  for (const char* name : {"elementwise_kernel", "reduce_kernel", "max_pool_backward_nchw", "nchwToNhwcKernel"}) {
    EXPECT_FALSE(use_of(run, name).uses) << name;
  }
  EXPECT_EQ(use_of(run, "elementwise_kernel").source, TensorCoreSource::counter);
}

// 5 us beside a kernel at 60 %: two microseconds of it are 24 points.
TEST(SampledTensorCoreUse, IsNotWhatANeighbourMayHaveLeft) {
  const auto use = [](const std::string& name, double share) {
    return use_of(sampled_run({{"neighbour", {132, 1, 1}, {384, 1, 1}, 200'000, 60, 0.5, 340'000, 100},
                               {name, {132, 1, 1}, {32, 1, 1}, 5'000, share, 1, 8'500, 100}}),
                  name);
  };
  EXPECT_FALSE(use("short", 20).uses);
  EXPECT_EQ(use("short", 20).source, TensorCoreSource::name);
  EXPECT_TRUE(use(kTensorKernel, 20).uses) << "its name decides";
  EXPECT_TRUE(use("short", 40).uses);
  EXPECT_EQ(use("short", 40).source, TensorCoreSource::counter);
}

TEST(SampledTensorCoreUse, IsNotWithinItsOwnInterval) {
  const auto use = [](const std::string& name, double share, double interval) {
    return use_of(sampled_run({{name, {132, 1, 1}, {32, 1, 1}, 200'000, share, interval, 340'000, 100}}), name);
  };
  EXPECT_FALSE(use("k", 5, 6).uses);
  EXPECT_EQ(use("k", 5, 6).source, TensorCoreSource::name);
  EXPECT_FALSE(use("k", 5, -1).uses) << "of one launch alone";
  EXPECT_TRUE(use(kTensorKernel, 5, -1).uses);
  EXPECT_TRUE(use("k", 5, 1).uses);
  EXPECT_EQ(use(kTensorKernel, 0, 0).source, TensorCoreSource::counter) << "idle in 68 launches";
  EXPECT_FALSE(use(kTensorKernel, 0, 0).uses);
}

// 10,000 blocks of 8 warps on 132 multiprocessors: 1 % of 1,000,000 cycles of each is 16.5 cycles a warp.
TEST(CountedTensorCoreUse, IsOfFewCyclesAWarpWhereTheNameSaysSo) {
  const auto use = [](const std::string& name, double operations) {
    TimelineBuilder builder;
    builder.launch(name, 0, 10, 20).measured(name, "sm__cycles_active.avg", {1e6});
    builder.measured(name, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", {1});
    if (operations >= 0) builder.measured(name, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", {operations});
    Timeline timeline = builder.build();
    timeline.devices.at(0).record.sm_count = 132;
    timeline.configs.at(0).key.grid = {10000, 1, 1};
    timeline.configs.at(0).key.block = {256, 1, 1};
    return TensorCoreTable(timeline).of(0, 0);
  };
  EXPECT_FALSE(use("elementwise_kernel", -1).uses);
  EXPECT_EQ(use("elementwise_kernel", -1).source, TensorCoreSource::counter);
  EXPECT_TRUE(use("nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", -1).uses);
  EXPECT_EQ(use("nvjet_sm90_tst_8x64_64x16_4x1_v_bz_TNN", -1).source, TensorCoreSource::name);
  EXPECT_TRUE(use("mm", 1e9).uses) << "operations were counted";
  EXPECT_FALSE(use("mm", 0).uses);
}

}  // namespace
}  // namespace dlkprof::model::tensor_core_use_test
