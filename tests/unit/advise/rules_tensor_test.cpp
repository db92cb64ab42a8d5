#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/found.h"
#include "support/pc_samples.h"

namespace dlkprof::advise {
namespace {

using test::fires;
using test::found;
using test::TimelineBuilder;
using testing::HasSubstr;

constexpr const char* kTensorKernel = "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tensor16x8x8";
constexpr const char* kPlainKernel = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_simt_";

// An op aten::mm that launches a kernel.
struct OneOp {
  explicit OneOp(const char* kernel, const char* type = "aten::mm")
      : run(TimelineBuilder().range(std::string(type) + ", seq = 1", 0, 100).launch(kernel, 10, 20, 90)), profile(run.profile()) {
    for (model::Op& op : run.fold().ops) mine = op.type == type ? &op : mine;
  }
  OneOp(const OneOp&) = delete;
  OneOp& operator=(const OneOp&) = delete;
  [[nodiscard]] bool fires(const char* rule) const { return test::fires(profile, rule); }
  [[nodiscard]] Findings found(const char* rule) const { return test::found(profile, rule); }

  test::DiagnosedRun run;
  const model::Profile& profile;
  model::Op* mine = nullptr;
};

TEST(TensorShape, FiresForExtentsThatTensorCoresCannotTake) {
  OneOp op(kPlainKernel);
  op.mine->data_types = "float16";
  op.mine->input_shapes = "[[128, 1001], [1001, 64]]";
  const Findings findings = op.found("tensor_shape");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("[128, 1001] has an extent of 1001, no multiple of 8"));
  EXPECT_EQ(findings[0].bound_ns, 70);
  EXPECT_FALSE(op.fires("tensor_cores_unused")) << "one finding for one cause";
}

TEST(TensorShape, FiresForTypesThatTheyDoNotTake) {
  OneOp op(kPlainKernel);
  op.mine->data_types = "float64";
  op.mine->input_shapes = "[[128, 64], [64, 64]]";
  ASSERT_EQ(op.found("tensor_shape").size(), 1U);
  EXPECT_THAT(op.found("tensor_shape")[0].problem, HasSubstr("of type float64"));
}

TEST(TensorShape, IsSilentForGoodShapesAndWhereTheyAreNotKnown) {
  OneOp op(kPlainKernel);
  EXPECT_FALSE(op.fires("tensor_shape")) << "nothing is known of the inputs";
  op.mine->data_types = "float16";
  op.mine->input_shapes = "[[128, 1024], [1024, 64]]";
  EXPECT_FALSE(op.fires("tensor_shape"));
  op.mine->data_types.clear();
  op.mine->input_shapes = "[[12, 4], [4, 4]]";
  EXPECT_FALSE(op.fires("tensor_shape")) << "of 4 bytes each they fit";
  OneOp used(kTensorKernel);
  used.mine->input_shapes = "[[127, 1001], [1001, 63]]";
  EXPECT_FALSE(used.fires("tensor_shape"));
}

TEST(UnusedTensorCores, FireWhereAnOpCouldUseThem) {
  const OneOp op(kPlainKernel);
  const Findings findings = op.found("tensor_cores_unused");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 70);
  EXPECT_THAT(findings[0].problem, HasSubstr("by their names"));
}

TEST(UnusedTensorCores, TheCounterIsBelievedMore) {
  test::DiagnosedRun run(TimelineBuilder()
                             .range("aten::mm, seq = 1", 0, 100)
                             .launch(kTensorKernel, 10, 20, 90)
                             .measured(kTensorKernel, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", {0}));
  const Findings findings = found(run.profile(), "tensor_cores_unused");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].problem, HasSubstr("its tensor pipe stayed idle"));
}

TEST(UnusedTensorCores, AreSilentWhereTheyAreUsedOrOfNoUse) {
  EXPECT_FALSE(OneOp(kTensorKernel).fires("tensor_cores_unused"));
  EXPECT_FALSE(OneOp(kPlainKernel, "aten::relu").fires("tensor_cores_unused"));
}

TEST(UnusedTensorCores, AreSilentWhereWarpsWereSeenToWaitForThem) {
  OneOp op("mm");
  EXPECT_TRUE(op.fires("tensor_cores_unused")) << "Triton's kernels are called as their authors like";
  op.run.timeline().pc_samples = test::small_pc_samples();
  EXPECT_TRUE(op.fires("tensor_cores_unused"));
  op.run.timeline().pc_samples.reasons[0] = "smsp__pcsamp_warps_issue_stalled_gmma";
  EXPECT_FALSE(op.fires("tensor_cores_unused"));
}

TEST(Amp, FiresWherePyTorchSaysItWasOff) {
  OneOp op(kTensorKernel);
  op.run.fact("amp", "false");
  const Findings findings = op.found("amp");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 35) << "half: it is on tensor cores already";
  EXPECT_THAT(findings[0].problem, HasSubstr("100 % of the GPU time"));
}

TEST(Amp, IsSilentWhereItWasOnOrNotNeeded) {
  OneOp on(kTensorKernel);
  on.run.fact("amp", "true");
  EXPECT_FALSE(on.fires("amp"));
  EXPECT_FALSE(OneOp(kTensorKernel).fires("amp")) << "nobody told";
  OneOp half("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tensor16x8x16");
  half.run.fact("amp", "false");
  EXPECT_FALSE(half.fires("amp")) << "the model is of half precision";
  OneOp other(kPlainKernel, "aten::relu");
  other.run.fact("amp", "false");
  EXPECT_FALSE(other.fires("amp")) << "nothing could use it";
  OneOp old(kTensorKernel);
  old.run.fact("amp", "false").timeline().devices[0].record.cc_major = 6;
  EXPECT_FALSE(old.fires("amp")) << "no tensor cores";
}

// Ops of TensorFlow of these types, a kernel each.
struct TensorFlowRun {
  explicit TensorFlowRun(const std::vector<const char*>& types) : run(builder(types)), profile(run.profile()) {
    for (model::Op& op : run.fold().ops) op.framework = model::Framework::tensorflow;
  }
  static TimelineBuilder builder(const std::vector<const char*>& types) {
    TimelineBuilder made;
    std::int64_t at = 0;
    for (const char* type : types) made.range(type, at, at + 100).launch("k", at + 5, at + 10, at + 20), at += 100;
    return made;
  }
  test::DiagnosedRun run;
  const model::Profile& profile;
};

TEST(NoFusion, FiresWhereNothingOfTensorFlowIsFused) {
  TensorFlowRun run({"Conv2D", "BiasAdd", "Relu"});
  const Findings findings = found(run.profile, "no_fusion");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].bound_ns, 20) << "of BiasAdd and Relu";
}

TEST(NoFusion, IsSilentWhereSomethingIsOrNothingCouldBe) {
  EXPECT_FALSE(fires(TensorFlowRun({"Conv2D", "BiasAdd", "_FusedConv2D"}).profile, "no_fusion"));
  EXPECT_FALSE(fires(TensorFlowRun({"Conv2D", "Softmax"}).profile, "no_fusion"));
  test::DiagnosedRun other(TensorFlowRun::builder({"Conv2D", "BiasAdd"}));
  EXPECT_FALSE(fires(other.profile(), "no_fusion")) << "not of TensorFlow";
}

}  // namespace
}  // namespace dlkprof::advise
