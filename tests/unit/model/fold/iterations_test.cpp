// Key nodes and iterations: what fold() makes of chapters 7 and 9 of the guide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "model/fold/fold.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::iterations_test {
namespace {

using test::TimelineBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> op_names(const Fold& fold) {
  std::vector<std::string> names;
  for (const OpInstance& instance : fold.instances) names.push_back(fold.ops[instance.op].name);
  return names;
}

const Op& op_of(const Fold& fold, std::size_t instance) { return fold.ops[fold.instances[instance].op]; }

std::vector<std::uint32_t> iterations_of_instances(const Fold& fold) {
  std::vector<std::uint32_t> iterations;
  for (const OpInstance& instance : fold.instances) iterations.push_back(instance.iteration);
  return iterations;
}

// What an error says, all of it.
std::string error_of(const Timeline& timeline, const FoldOptions& options) {
  try {
    static_cast<void>(fold(timeline, options));
  } catch (const UsageError& error) {
    return error.message();
  }
  return "no error";
}

constexpr const char* kZeroGrad = "Optimizer.zero_grad#SGD.zero_grad";

TEST(IterationsTest, IterationsBeginWhereKeyNodesEnd) {
  TimelineBuilder builder;
  for (const std::int64_t start : {100, 200, 300}) {
    builder.range(kZeroGrad, start, start + 10).range("before", start + 9, start + 10).range("op", start + 10, start + 20);
    builder.launch("k", start + 10, start + 90, start + 150);
  }
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.key_node, kZeroGrad);
  EXPECT_EQ(made.key_node_source, KeyNodeSource::framework);
  EXPECT_EQ(made.key_nodes_found, 3U);
  ASSERT_EQ(made.iterations.size(), 4U);
  EXPECT_EQ(made.iterations[0].start_ns, 100);
  EXPECT_EQ(made.iterations[0].stop_ns, 109);
  EXPECT_EQ(made.iterations[1].start_ns, 110);
  EXPECT_EQ(made.iterations[2].stop_ns, 309);
  EXPECT_EQ(made.iterations[3].stop_ns, 450);
  EXPECT_THAT(iterations_of_instances(made), ElementsAre(0, 0, 1, 1, 1, 2, 2, 2, 3)) << "to the ns";
  EXPECT_THAT(made.activity_iteration, ElementsAre(1, 2, 3)) << "by the launch, not by the kernel";
}

TEST(IterationsTest, RootSiblingsAreCountedAnewInEachIteration) {
  TimelineBuilder builder;
  for (const std::int64_t start : {0, 100}) {
    builder.range(kZeroGrad, start, start + 10).range("op", start + 20, start + 30).range("op", start + 40, start + 50);
  }
  const std::string key = std::string("/") + kZeroGrad;
  EXPECT_THAT(op_names(fold(builder.build())), ElementsAre(key, "/op", "/op(2)", key, "/op", "/op(2)"));
}

TEST(IterationsTest, SoAreThoseInARangeThatHoldsIterations) {
  TimelineBuilder builder;
  builder.range("epoch", 0, 1000);
  for (const std::int64_t start : {100, 200, 300}) {
    builder.range(kZeroGrad, start, start + 10).range("op", start + 20, start + 30).range("op", start + 40, start + 50);
  }
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.ops.size(), 4U);
  EXPECT_EQ(op_of(made, 9).name, "/epoch/op(2)");
}

TEST(IterationsTest, AKeyNodeFoundOnceMakesTwoIterations) {
  TimelineBuilder builder;
  builder.range(kZeroGrad, 10, 20).range("op", 30, 40);
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.key_nodes_found, 1U);
  EXPECT_EQ(made.iterations.size(), 2U);
}

TEST(IterationsTest, ANestedKeyNodeCountsOnce) {
  TimelineBuilder builder;
  for (const std::int64_t start : {0, 100}) {
    builder.range(kZeroGrad, start, start + 20).range("super", start + 1, start + 19).range(kZeroGrad, start + 5, start + 10);
  }
  EXPECT_EQ(fold(builder.build()).key_nodes_found, 2U);
}

TEST(IterationsTest, OfEqualKeyNodesTheOneWithMostGpuTimeIsTaken) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.range("XlaModule:#hlo_module=jit_multiply,program_id=1#", 10 * i, 10 * i + 5, 0, {"TSL"});
    builder.launch("small", 10 * i + 1, 10 * i + 2, 10 * i + 3);
  }
  for (std::int64_t i = 10; i < 13; ++i) {
    builder.range("XlaModule:#hlo_module=jit_run,program_id=2#", 100 * i, 100 * i + 50, 0, {"TSL"});
    builder.launch("big", 100 * i + 1, 100 * i + 20, 100 * i + 90);
  }
  const Fold made = fold(builder.build());
  EXPECT_THAT(made.key_node, HasSubstr("jit_run"));
  EXPECT_EQ(made.key_nodes_found, 3U);
}

TEST(IterationsTest, WithoutMarkersTheRepetitionOfLaunchesIsTaken) {
  TimelineBuilder builder;
  builder.launch("setup", 0, 5, 9);
  for (std::int64_t i = 1; i <= 10; ++i) {
    for (std::int64_t k = 0; k < 4; ++k)
      builder.launch("kernel" + std::to_string(k), 100 * i + 10 * k, 100 * i + 10 * k + 5, 100 * i + 10 * k + 9);
  }
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.key_node_source, KeyNodeSource::repetition);
  EXPECT_THAT(made.key_node, HasSubstr("kernel"));
  EXPECT_EQ(made.iterations.size(), made.key_nodes_found + 1U);
  EXPECT_GE(made.key_nodes_found, 9U);
  for (std::size_t i = 2; i + 1 < made.iterations.size(); ++i) {
    EXPECT_EQ(made.iterations[i].stop_ns - made.iterations[i].start_ns + 1, 100) << i;
  }
}

class AskedKeyNodeTest : public testing::Test {
 protected:
  AskedKeyNodeTest() {
    TimelineBuilder builder;
    for (std::int64_t start = 0; start < 400; start += 100) {
      builder.range("step", start, start + 90)
          .range("load, seq = 1", start + 1, start + 10)
          .range("conv1", start + 20, start + 50);
      builder.range("aten::mm", start + 30, start + 40).range("aten::mm", start + 60, start + 70);
      builder.range("MmBackward0, seq = 1", start + 80, start + 85);
      builder.call("cuCtxSynchronize", start + 95, start + 98);
    }
    timeline_ = builder.build();
  }
  Timeline timeline_;
};

TEST_F(AskedKeyNodeTest, ByName) {
  const Fold made = fold(timeline_, {"/step/conv1", {}});
  EXPECT_EQ(made.key_node, "/step/conv1");
  EXPECT_EQ(made.key_node_source, KeyNodeSource::asked);
  EXPECT_EQ(made.key_nodes_found, 4U);
  EXPECT_EQ(made.iterations[1].start_ns, 50);
}

TEST_F(AskedKeyNodeTest, EveryIdOfTheReportWorks) {
  const Fold by_default = fold(timeline_);
  for (const Op& op : by_default.ops) {
    const Fold made = fold(timeline_, {op.id, {}});
    EXPECT_EQ(made.key_nodes_found, 4U) << op.id;
    ASSERT_EQ(made.ops.size(), by_default.ops.size()) << "names do not depend on the key node";
    for (std::size_t i = 0; i < made.ops.size(); ++i) EXPECT_EQ(made.ops[i].id, by_default.ops[i].id);
  }
}

TEST_F(AskedKeyNodeTest, ANameIsThatOfTheForwardOp) { EXPECT_EQ(fold(timeline_, {"/step/load", {}}).iterations[0].stop_ns, 9); }

TEST_F(AskedKeyNodeTest, ByMarkerOrTypeWhereThatIsUnique) {
  EXPECT_EQ(fold(timeline_, {"conv1", {}}).key_nodes_found, 4U);
  EXPECT_EQ(fold(timeline_, {"cuCtxSynchronize", {}}).iterations[0].stop_ns, 97);
  EXPECT_THAT(error_of(timeline_, {"aten::mm", {}}),
              testing::AllOf(HasSubstr("Several ops"), HasSubstr("aten::mm_1 (/step/conv1/aten::mm)"), HasSubstr("aten::mm_2")));
}

TEST_F(AskedKeyNodeTest, UnknownOnesAreUsageErrorsThatNameANearOne) {
  EXPECT_THAT(error_of(timeline_, {"/step/conv2", {}}),
              testing::AllOf(HasSubstr("No op is called /step/conv2"), HasSubstr("Did you mean /step/conv1?")));
  EXPECT_THAT(error_of(timeline_, {"\x1b[31m", {}}), testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(error_of(Timeline{}, {"x", {}}), HasSubstr("No op is called x"));
}

TEST(MultiGpuIterationsTest, TheNthKeyNodesOfAllGpusAreOne) {
  TimelineBuilder builder;
  builder.device();
  const std::uint32_t second = builder.thread(builder.process());
  for (const std::int64_t start : {100, 200, 300}) {
    builder.range(kZeroGrad, start, start + 10).range(kZeroGrad, start + 5, start + 30, second);
    builder.launch("a", start + 50, start + 60, start + 70).launch("a", start + 52, start + 60, start + 70, second, 1);
  }
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.key_nodes_found, 3U);
  EXPECT_EQ(made.iterations[1].start_ns, 130) << "the end of the last one";
}

TEST(MultiGpuIterationsTest, WhatRanOnceOnEachGpuIsNoKeyNode) {
  TimelineBuilder builder;
  builder.device();
  const std::uint32_t second = builder.thread(builder.process());
  const std::string gather = "XlaModule:#hlo_module=jit_gather,program_id=1#",
                    run = "XlaModule:#hlo_module=jit__fun,program_id=2#";
  for (const std::int64_t start : {100, 200, 300}) {
    builder.range(run, start, start + 10, 0, {"TSL"}).range(run, start, start + 10, second, {"TSL"});
    builder.launch("a", start + 2, start + 20, start + 30).launch("a", start + 2, start + 20, start + 30, second, 1);
  }
  builder.range(gather, 500, 510, 0, {"TSL"}).range(gather, 500, 510, second, {"TSL"});
  builder.launch("ncclDevKernel_AllGather", 502, 510, 1000).launch("ncclDevKernel_AllGather", 502, 510, 1000, second, 1);
  const Fold made = fold(builder.build());
  EXPECT_THAT(made.key_node, HasSubstr("jit__fun"));
  EXPECT_EQ(made.key_nodes_found, 3U);
}

TEST(MultiGpuIterationsTest, UnequalNumbersMakeEachOneAnIteration) {
  TimelineBuilder builder;
  builder.device();
  const std::uint32_t second = builder.thread(builder.process());
  builder.range(kZeroGrad, 100, 110).range(kZeroGrad, 200, 210).range(kZeroGrad, 205, 230, second);
  builder.launch("a", 50, 60, 70).launch("a", 52, 60, 70, second, 1);
  EXPECT_EQ(fold(builder.build()).key_nodes_found, 3U);
}

TEST(MultiGpuIterationsTest, TheGpuIsThatOfTheWorkInside) {
  TimelineBuilder builder;  // one thread that steps two GPUs
  builder.device();
  for (const std::int64_t start : {100, 200}) {
    builder.range(kZeroGrad, start, start + 10).launch("a", start + 2, start + 5, start + 6);
    builder.range(kZeroGrad, start + 20, start + 30)
        .range("inner", start + 21, start + 28)
        .launch("a", start + 22, start + 25, start + 26, 0, 1);
  }
  const Fold made = fold(builder.build());
  EXPECT_EQ(made.key_nodes_found, 2U);
  EXPECT_EQ(made.iterations[1].start_ns, 130);
}

}  // namespace
}  // namespace dlkprof::model::iterations_test
