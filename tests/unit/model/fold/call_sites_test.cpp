// Stacks of ops by where their modules are called, through fold().
#include "model/fold/call_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/fold/fold.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::call_sites_test {
namespace {

std::string stack_of(const Fold& fold, const std::string& name, Direction direction) {
  for (const Op& op : fold.ops) {
    if (op.name == name && op.direction == direction) return op.stack;
  }
  return "no such op";
}

TEST(CallSitesTest, AnOpHasTheLinesOfTheModulesAroundItFromTheInsideOut) {
  test::TimelineBuilder builder;
  builder.range("dlkprof:module: Net @ train.py:30 in main", 0, 1'000);
  builder.range("dlkprof:module: layers.0 @ net.py:12 in forward", 10, 900);
  builder.range("aten::mm, seq = 7, op_id = 1", 20, 100).launch("gemm", 30, 40, 50);
  builder.range("aten::add", 910, 950);
  builder.thread();
  builder.range("MmBackward0, seq = 7", 2'000, 2'100, 1).range("aten::mm", 2'010, 2'090, 1);
  const Fold made = fold(builder.build());
  const std::string inner = "net.py:12 in forward < train.py:30 in main";
  EXPECT_EQ(stack_of(made, "/Net/layers/0/aten::mm", Direction::fprop), inner);
  EXPECT_EQ(stack_of(made, "/Net/layers/0/aten::mm", Direction::bprop), inner) << "as its forward op";
  EXPECT_EQ(stack_of(made, "/Net/aten::add", Direction::none), "train.py:30 in main");
}

TEST(CallSitesTest, LinesThatCallSeveralModulesCountOnceAndDepthIsLimited) {
  test::TimelineBuilder builder;
  builder.range("dlkprof:module: Net @ train.py:30 in main", 0, 10'000);
  for (int i = 0; i < 3; ++i) builder.range("dlkprof:module: m @ net.py:12 in forward", 10 + i, 9'990 - i);
  builder.range("aten::mm", 100, 200);
  test::TimelineBuilder deep;
  for (int i = 0; i < 1'000; ++i) deep.range("dlkprof:module: m @ f" + std::to_string(i), i, 100'000 - i);
  EXPECT_EQ(stack_of(fold(builder.build()), "/Net/m/m/m/aten::mm", Direction::none),
            "net.py:12 in forward < train.py:30 in main");
  for (const Op& op : fold(deep.build()).ops) EXPECT_LE(op.stack.size(), kMostStackText);
}

TEST(CallSitesTest, WithoutThemOpsHaveNone) {
  test::TimelineBuilder builder;
  builder.range("dlkprof:module: Net", 0, 1'000).range("mine @ here", 10, 900);
  const Timeline timeline = builder.build();
  EXPECT_TRUE(CallSites(timeline).empty());
  for (const Op& op : fold(timeline).ops) EXPECT_EQ(op.stack, "");
}

}  // namespace
}  // namespace dlkprof::model::call_sites_test
