// Ops inside CUDA graphs, through fold().
#include "model/fold/captured_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/fold/fold.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::captured_ops_test {
namespace {

using test::TimelineBuilder;
using testing::ElementsAre;

// Of each work its op, in the order of works.
std::vector<std::string> op_of_works(const Timeline& timeline, const Fold& made) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const Op& op = made.ops[made.instances[made.activity_instance[i]].op];
    names.push_back(op.name + (op.direction == Direction::bprop ? " bprop" : ""));
  }
  return names;
}
std::vector<std::string> op_of_works(const TimelineBuilder& builder) {
  const Timeline timeline = builder.build();
  return op_of_works(timeline, fold(timeline));
}

TEST(CapturedOpsTest, AKernelBelongsToTheOpThatCapturedItBelowTheOneThatLaunches) {
  TimelineBuilder builder;
  builder.range("capture", 0, 100).range("linear", 10, 40).range("addmm", 12, 30).range("gelu", 50, 60);
  const std::uint32_t product = builder.node(15, 0, 5), rest = builder.node(55, 0, 5);
  builder.range("step", 200, 300).range("replay", 210, 290);
  const std::uint32_t call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, product, "gemm", 240, 250).graph_work(call, rest, "gelu", 250, 260);
  EXPECT_THAT(op_of_works(builder), ElementsAre("/step/replay/linear/addmm", "/step/replay/gelu"));
}

TEST(CapturedOpsTest, ALaunchIsAnInstanceOfEachOp) {
  TimelineBuilder builder;
  builder.range("linear", 10, 40);
  const std::uint32_t first = builder.node(15, 0, 5), second = builder.node(20, 0, 5);
  for (int i = 0; i < 2; ++i) {
    const int start = 200 + 100 * i;
    builder.range("replay", start, start + 90);
    const std::uint32_t call = builder.call("cuGraphLaunch", start + 20, start + 30);
    builder.graph_work(call, first, "a", start + 40, start + 50).graph_work(call, second, "b", start + 50, start + 60);
  }
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  EXPECT_THAT(op_of_works(timeline, made),
              ElementsAre("/replay/linear", "/replay/linear", "/replay(2)/linear", "/replay(2)/linear"));
  EXPECT_EQ(made.activity_instance[0], made.activity_instance[1]);
  EXPECT_NE(made.activity_instance[1], made.activity_instance[2]);
  const OpInstance& instance = made.instances[made.activity_instance[0]];
  EXPECT_EQ(instance.range, kNone);
  EXPECT_EQ(made.call_ns[made.activity_instance[0]], 0) << "the time of the launch is that of the op that launches";
  EXPECT_FALSE(made.ops[made.instances[1].op].leaf);
  EXPECT_TRUE(made.ops[instance.op].leaf);
}

TEST(CapturedOpsTest, OpsOfTheSameNameAreCountedAnewInEachCapture) {
  TimelineBuilder builder;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t graph = 0; graph < 2; ++graph) {
    for (int i = 0; i < 2; ++i) {
      const int start = 100 * static_cast<int>(graph) + 20 * i;
      builder.range("mm", start, start + 10);
      nodes.push_back(builder.node(start + 5, graph, 999));
    }
  }
  const std::uint32_t call = builder.call("cuGraphLaunch", 500, 510);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    builder.graph_work(call, nodes[i], "k", 600 + 10 * static_cast<int>(i), 605 + 10 * static_cast<int>(i));
  }
  EXPECT_THAT(op_of_works(builder), ElementsAre("/mm", "/mm(2)", "/mm", "/mm(2)"));
}

TEST(CapturedOpsTest, BackwardIsLinkedToForwardThroughTheSequenceNumber) {
  TimelineBuilder builder;
  const std::uint32_t autograd = builder.thread();
  builder.range("warm-up", 0, 400)
      .range("aten::linear, seq = 3, op_id = 1", 10, 40)
      .range("aten::view, seq = 4, op_id = 2", 50, 55);
  builder.range("aten::gelu, seq = 5, op_id = 3", 60, 70);
  const std::uint32_t product = builder.node(15, 0, 5), gelu = builder.node(65, 0, 5);
  builder.range("autograd::engine::evaluate_function: AddmmBackward0, op_id = 4", 100, 140, autograd)
      .range("AddmmBackward0, seq = 3, op_id = 5", 110, 130, autograd)
      .range("aten::mm, op_id = 6", 112, 120, autograd)
      .range("ViewBackward0, seq = 4, op_id = 7", 150, 160, autograd);
  const std::uint32_t backward = builder.node(115, 1, 90, autograd), sum = builder.node(135, 1, 90, autograd);
  const std::uint32_t view = builder.node(155, 1, 90, autograd);
  builder.range("Graphed, seq = 9, op_id = 20", 500, 540);
  const std::uint32_t forward_call = builder.call("cuGraphLaunch", 510, 515);
  builder.graph_work(forward_call, product, "a", 520, 525).graph_work(forward_call, gelu, "b", 525, 530);
  builder.range("GraphedBackward, seq = 9, op_id = 21", 600, 640, autograd);
  const std::uint32_t backward_call = builder.call("cuGraphLaunch", 610, 615, autograd);
  builder.graph_work(backward_call, backward, "c", 620, 625).graph_work(backward_call, sum, "d", 625, 630);
  builder.graph_work(backward_call, view, "e", 630, 635);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  EXPECT_THAT(op_of_works(timeline, made),
              ElementsAre("/Graphed/aten::linear", "/Graphed/aten::gelu", "/Graphed/aten::linear bprop",
                          "/Graphed/aten::linear bprop", "/Graphed/aten::view bprop"));
  EXPECT_EQ(made.instances[made.activity_instance[2]].forward, made.activity_instance[0]);
}

TEST(CapturedOpsTest, AChildGraphIsPartOfTheOneThatItWasPutInto) {
  TimelineBuilder builder;
  builder.range("capture", 0, 100).range("net", 10, 90).range("attention", 20, 80).range("flash", 30, 40);
  const std::uint32_t outer = builder.node(15, 0, 5), inner = builder.node(35, 1, 25, 0, 0, true);
  const std::uint32_t call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, outer, "a", 240, 250).graph_work(call, inner, "b", 250, 260);
  EXPECT_THAT(op_of_works(builder), ElementsAre("/net", "/net/attention/flash"));
}

TEST(CapturedOpsTest, WhereNothingBeganWithinTheCaptureWhatBothPathsHaveIsLeftOut) {
  TimelineBuilder builder;
  builder.range("jit_step", 0, 100).range("command_buffer", 10, 90).range("fusion", 20, 80);
  const std::uint32_t node = builder.node(30, 0, 25);
  builder.range("jit_step", 200, 300).range("command_buffer", 210, 290);
  const std::uint32_t call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, node, "a", 240, 250);
  const std::uint32_t elsewhere = builder.call("cuGraphLaunch", 400, 410);
  builder.graph_work(elsewhere, node, "a", 420, 430);
  EXPECT_THAT(op_of_works(builder), ElementsAre("/jit_step(2)/command_buffer/fusion", "/jit_step/command_buffer/fusion"));
}

TEST(CapturedOpsTest, WithoutARangeAtCaptureItIsTheOpThatLaunches) {
  TimelineBuilder builder;
  builder.range("replay", 200, 300);
  const std::uint32_t nowhere = builder.node(10, 0, 5), call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, nowhere, "a", 240, 250).graph_work(call, kNone, "b", 250, 260);
  const std::uint32_t outside = builder.call("cuGraphLaunch", 400, 410);
  builder.graph_work(outside, nowhere, "a", 420, 430);
  EXPECT_THAT(op_of_works(builder), ElementsAre("/replay", "/replay", "unassociated_a"));
}

TEST(CapturedOpsTest, NumbersOfGraphsMayBeAny) {
  TimelineBuilder builder;
  builder.range("linear", 10, 40);
  const std::uint32_t node = builder.node(25, 0xfffffffeU, 5), call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, node, "a", 240, 250);
  EXPECT_THAT(op_of_works(builder), ElementsAre("/linear"));
}

TEST(CapturedOpsTest, RangesOfDomainsThatDoNotCountAreLeftOut) {
  TimelineBuilder builder;
  builder.range("linear", 10, 40).range("detail", 20, 30, 0, {"other"});
  const std::uint32_t node = builder.node(25, 0, 5), call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, node, "a", 240, 250);
  const Timeline timeline = builder.build();
  EXPECT_THAT(op_of_works(timeline, fold(timeline)), ElementsAre("/linear/detail"));
  EXPECT_THAT(op_of_works(timeline, fold(timeline, {.domains = {"default"}})), ElementsAre("/linear"));
}

TEST(CapturedOpsTest, TheTimeOfALaunchOutsideOfAllRangesCountsOnce) {
  TimelineBuilder builder;
  builder.range("a", 10, 20).range("b", 30, 40);
  const std::uint32_t first = builder.node(15, 0, 5), second = builder.node(35, 0, 5),
                      call = builder.call("cuGraphLaunch", 220, 230);
  builder.graph_work(call, first, "a", 240, 250).graph_work(call, second, "b", 250, 260).graph_work(call, kNone, "c", 260, 270);
  const Timeline timeline = builder.build();
  const Fold made = fold(timeline);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < made.instances.size(); ++i) all += made.instances[i].range == kNone ? made.call_ns[i] : 0;
  EXPECT_EQ(all, 10);
}

}  // namespace
}  // namespace dlkprof::model::captured_ops_test
