// Ops of compiled code, through fold().
#include "model/fold/compiled_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/aggregate/op_groups.h"
#include "model/fold/fold.h"
#include "model/profile.h"
#include "support/timeline_builder.h"

namespace dlkprof::model::compiled_launches_test {
namespace {

using test::TimelineBuilder;
using testing::ElementsAre;
using testing::Pair;

struct Launch {
  std::string kernel, module = "mlp", root = "*Net", ops = "aten.mm";
};

// What python/dlkprof/_compiled.py tells of a graph; each launch has a stack of its own.
capture::Fact graph(const std::string& key, const std::vector<Launch>& launches) {
  std::string rows, stacks;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& [kernel, module, root, ops] = launches[i];
    rows += (i > 0 ? ", " : "") +
            ("[\"" + kernel + "\", \"" + root + "\", \"" + module + "\", \"" + ops + "\", " + std::to_string(i) + "]");
    stacks += (i > 0 ? ", " : "") + ("\"net.py:" + std::to_string(i) + " in forward\"");
  }
  return {"pytorch", "compiled." + key + ".0", "{\"launches\": [" + rows + "], \"stacks\": [" + stacks + "]}"};
}

std::string call_of(const std::string& key) { return "## Call CompiledFxGraph " + key + " ##"; }

// Calls of a graph one after another, from 100 on, with the launches that it is told to have.
class Program {
 public:
  explicit Program(std::string key = "fx7", const std::string& around = "dlkprof:module: Net") : key_(std::move(key)) {
    if (!around.empty()) builder_.range(around, 1, 100'000);
    builder_.range("Torch-Compiled Region: 0/0", 2, 50'000).range("CompiledFunction, seq = 5", 3, 50'000);
    builder_.range(call_of(key_), 100, 50'000);
  }
  // Launched directly by the generated code, as kernels of Triton's backward are.
  Program& bare(const std::string& kernel) { return launch(kernel); }
  Program& within(const std::vector<std::string>& ranges, const std::string& kernel) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      builder_.range(ranges[i], now_ + static_cast<std::int64_t>(i), now_ + 20 - static_cast<std::int64_t>(i));
    }
    return launch(kernel);
  }
  TimelineBuilder& builder() { return builder_; }

  Timeline timeline(const std::vector<capture::Fact>& facts) const {
    Timeline timeline = builder_.build();
    timeline.facts = facts;
    return timeline;
  }
  std::vector<std::string> ops(const std::vector<capture::Fact>& facts) const {
    const Timeline made = timeline(facts);
    const Fold folded = fold(made);
    std::vector<std::string> names;
    for (const std::uint32_t instance : folded.activity_instance) names.push_back(folded.ops[folded.instances[instance].op].name);
    return names;
  }

 private:
  Program& launch(const std::string& kernel) {
    builder_.launch(kernel, now_ + 8, now_ + 10, now_ + 12);
    now_ += 30;
    return *this;
  }

  TimelineBuilder builder_;
  std::string key_;
  std::int64_t now_ = 200;
};

TEST(CompiledLaunchesTest, KernelsLieInTheModuleThatTheyWereMadeFrom) {
  Program program;
  program.within({"triton_poi_fused_add_0"}, "triton_poi_fused_add_0")
      .within({"aten::mm, op_id = 3"}, "nvjet")
      .bare("triton_red_1");
  const std::vector<capture::Fact> facts{graph(
      "fx7",
      {{"triton_poi_fused_add_0", "model/layers.0/norm"}, {"extern_kernels.mm", "model/layers.0/mlp"}, {"triton_red_1", ""}})};
  EXPECT_THAT(program.ops(facts), ElementsAre("/Net/model/layers/0/norm/triton_poi_fused_add_0",
                                              "/Net/model/layers/0/mlp/aten::mm", "/Net/triton_red_1"));
}

TEST(CompiledLaunchesTest, AnOpHasItsStackModuleAndWhatItWasMadeOf) {
  Program program;
  program.bare("triton_poi_0").within({"aten::addmm", "aten::inner"}, "gemm");
  const Timeline timeline =
      program.timeline({graph("fx7", {{"triton_poi_0", "a.b", "*Net", "aten.add"}, {"extern_kernels.bias_addmm", "c"}})});
  const Fold made = fold(timeline);
  const auto op_of = [&](std::size_t activity) { return made.ops[made.instances[made.activity_instance[activity]].op]; };
  EXPECT_EQ(op_of(0).module, "/Net/a/b");
  EXPECT_EQ(op_of(0).made_of, "aten.add");
  EXPECT_EQ(op_of(0).stack, "net.py:0 in forward");
  EXPECT_EQ(op_of(0).direction, Direction::fprop);
  EXPECT_EQ(op_of(0).framework, Framework::pytorch);
  EXPECT_EQ(op_of(1).name, "/Net/c/aten::addmm/aten::inner");
  EXPECT_EQ(op_of(1).stack, "net.py:1 in forward") << "what lies within an op was written where that was";
  for (const Op& op : made.ops) {
    if (op.name.find("CompiledFxGraph") == std::string::npos) continue;
    EXPECT_EQ(op.stack, "");
    EXPECT_FALSE(op.leaf);
  }
}

// As a database may say it: each of the two is a column of its own.
TEST(CompiledLaunchesTest, ALaunchOutsideOfGraphsIsItsCallsWhateverNodeItNames) {
  Program program;
  program.bare("triton_0");
  Timeline timeline = program.timeline({graph("fx7", {{"triton_0", "layers.0"}})});
  timeline.graph_nodes.resize(1);
  timeline.activities[0].graph_node = 0;
  const Fold made = fold(timeline);
  EXPECT_EQ(made.ops[made.instances[made.activity_instance[0]].op].name, "/Net/layers/0/triton_0");
}

TEST(CompiledLaunchesTest, TheSameKernelAgainIsItsNextLaunch) {
  Program program;
  program.bare("triton_0").bare("triton_0").bare("triton_0");
  EXPECT_THAT(program.ops({graph("fx7", {{"triton_0", "layers.0"}, {"triton_0", "layers.1"}, {"triton_0", "layers.1"}})}),
              ElementsAre("/Net/layers/0/triton_0", "/Net/layers/1/triton_0", "/Net/layers/1/triton_0(2)"));
}

TEST(CompiledLaunchesTest, WhatNoNameJoinsIsJoinedInItsOrderBetweenTwoThatAre) {
  Program program;
  program.bare("triton_0").bare("user_kernel").within({"mylib::attend"}, "attend").bare("triton_1").bare("odd").bare("triton_2");
  EXPECT_THAT(program.ops({graph("fx7", {{"triton_0", "a"},
                                         {"user_kernel_0", "b"},
                                         {"torch.ops.mylib.attend.default", "c"},
                                         {"triton_1", "d"},
                                         {"extern_kernels.x", "e"},
                                         {"extern_kernels.y", "f"},
                                         {"triton_2", "g"}})}),
              ElementsAre("/Net/a/triton_0", "/Net/b/user_kernel", "/Net/c/mylib::attend", "/Net/d/triton_1",
                          "/Net/Torch-Compiled Region: 0/0/CompiledFunction/## Call CompiledFxGraph fx7 ##", "/Net/g/triton_2"))
      << "one launch and two that it may be: not known which";
}

TEST(CompiledLaunchesTest, BackwardLaunchesLieWhereTheForwardRangeOfTheirNumberDoes) {
  Program program;
  program.bare("triton_0");
  const std::string node = "CompiledFunctionBackward, seq = 5";
  program.builder().range("autograd::engine::evaluate_function: CompiledFunctionBackward", 60'000, 70'000, 1);
  program.builder().thread();
  program.builder().range(node, 60'010, 69'990, 1).range(call_of("b"), 60'020, 69'980, 1);
  program.builder().launch("triton_b", 61'000, 61'010, 61'020, 1);
  program.builder().range("aten::mm", 62'000, 62'100, 1).range("aten::inner", 62'005, 62'090, 1);
  program.builder().launch("gemm", 62'010, 62'030, 62'040, 1);
  const std::vector<capture::Fact> facts{graph("fx7", {{"triton_0", "mlp"}}),
                                         graph("b", {{"triton_b", "layers.1"}, {"extern_kernels.mm", "layers.0"}})};
  EXPECT_THAT(program.ops(facts), ElementsAre("/Net/mlp/triton_0", "/Net/layers/1/triton_b", "/Net/layers/0/aten::mm"));
  const Timeline timeline = program.timeline(facts);
  const Fold made = fold(timeline);
  for (const std::size_t activity : {1U, 2U}) {
    const OpInstance& instance = made.instances[made.activity_instance[activity]];
    EXPECT_EQ(made.ops[instance.op].direction, Direction::bprop);
    ASSERT_NE(instance.forward, kNone);
    EXPECT_EQ(made.ops[made.instances[instance.forward].op].type, "CompiledFunction");
  }
}

TEST(CompiledLaunchesTest, WhatIsCapturedIntoACudaGraphLiesInItsModuleWhereThatIsLaunched) {
  Program program;
  TimelineBuilder& builder = program.builder();
  builder.range("aten::mm, sizes = [[4, 8]]", 300, 400).range("aten::inner", 310, 390);
  const std::uint32_t bare = builder.node(250, 0, 240), product = builder.node(320, 0, 240), copy = builder.node(420, 0, 240);
  builder.range("dlkprof:module: Net", 200'000, 300'000).range("CompiledFunction, seq = 6", 200'001, 300'000);
  builder.range(call_of("fx7"), 200'002, 300'000);
  const std::uint32_t call = builder.call("cuGraphLaunch", 210'000, 210'010);
  builder.graph_work(call, bare, "triton_0", 210'020, 210'030).graph_work(call, product, "gemm", 210'030, 210'040);
  builder.graph_work(call, copy, "triton_1", 210'040, 210'050);
  const std::vector<capture::Fact> facts{graph("fx7", {{"triton_0", "a"}, {"extern_kernels.mm", "b"}, {"triton_1", "c"}})};
  EXPECT_THAT(program.ops(facts), ElementsAre("/Net(2)/a/triton_0", "/Net(2)/b/aten::mm/aten::inner", "/Net(2)/c/triton_1"));
  const Timeline timeline = program.timeline(facts);
  const Fold made = fold(timeline);
  const Op& op = made.ops[made.instances[made.activity_instance[1]].op];
  EXPECT_EQ(op.stack, "net.py:1 in forward");
  EXPECT_EQ(op.direction, Direction::fprop);
  EXPECT_EQ(cpu_times(timeline, made, made.activity_instance[1]).cpu_ns, 0) << "the call is the launching range's";
}

// As PyTorch 2.11 names them for torch.compile(mode="reduce-overhead").
TEST(CompiledLaunchesTest, RangesAroundACaptureAreNoLaunch) {
  Program program;
  TimelineBuilder& builder = program.builder();
  builder.range("CUDAGraphNode.record, op_id = 7", 240, 900).range("CUDAGraphNode.record (dynamo_timed), op_id = 8", 245, 890);
  builder.range("aten::mm, sizes = [[4, 8]]", 300, 400);
  const std::uint32_t bare = builder.node(250, 0, 246), product = builder.node(320, 0, 246), last = builder.node(420, 0, 246);
  builder.range("dlkprof:module: Net", 200'000, 300'000).range(call_of("fx7"), 200'002, 300'000);
  const std::uint32_t call = builder.call("cuGraphLaunch", 210'000, 210'010);
  builder.graph_work(call, bare, "triton_0", 210'020, 210'030).graph_work(call, product, "gemm", 210'030, 210'040);
  builder.graph_work(call, last, "triton_1", 210'040, 210'050);
  EXPECT_THAT(program.ops({graph("fx7", {{"triton_0", "a"}, {"extern_kernels.mm", "b"}, {"triton_1", "c"}})}),
              ElementsAre("/Net(2)/a/triton_0", "/Net(2)/b/aten::mm", "/Net(2)/c/triton_1"));
}

TEST(CompiledLaunchesTest, AGraphThatIsLaunchedOutsideOfCompiledCodeHasItsCapturedOps) {
  Program program;
  TimelineBuilder& builder = program.builder();
  const std::uint32_t bare = builder.node(250, 0, 1);
  builder.range("replay", 200'000, 300'000);
  builder.graph_work(builder.call("cuGraphLaunch", 210'000, 210'010), bare, "triton_0", 210'020, 210'030);
  EXPECT_THAT(program.ops({graph("fx7", {{"triton_0", "a"}})}),
              ElementsAre("/replay/Torch-Compiled Region: 0/0/CompiledFunction/## Call CompiledFxGraph fx7 ##"));
}

TEST(CompiledLaunchesTest, TheOutermostModuleIsNamedWhereNoRangeIsAroundOrItIsAnother) {
  const std::vector<Launch> launches{{"triton_0", "mlp", "*Net"}};
  Program alone("fx7", "");
  alone.bare("triton_0");
  EXPECT_THAT(alone.ops({graph("fx7", launches)}), ElementsAre("/Net/mlp/triton_0"));
  Program global;
  global.bare("triton_0");
  EXPECT_THAT(global.ops({graph("fx7", {{"triton_0", "mlp", "Teacher"}})}), ElementsAre("/Net/Teacher/mlp/triton_0"));
  Program wrapped;
  wrapped.bare("triton_0");
  EXPECT_THAT(wrapped.ops({graph("fx7", {{"triton_0", "mlp", "Net"}})}), ElementsAre("/Net/mlp/triton_0"));
  Program scope("fx7", "train");
  scope.bare("triton_0");
  EXPECT_THAT(scope.ops({graph("fx7", launches)}), ElementsAre("/train/Net/mlp/triton_0"));
  Program function("fx7", "train");
  function.bare("triton_0");
  EXPECT_THAT(function.ops({graph("fx7", {{"triton_0", "", ""}})}), ElementsAre("/train/triton_0"));
}

TEST(CompiledLaunchesTest, OfGraphsWithoutKeyTheOneThatFitsBestIsTaken) {
  Program program("None");
  program.bare("triton_0").bare("triton_1");
  EXPECT_THAT(
      program.ops({graph("-1", {{"triton_0", "wrong"}}), graph("-2", {{"triton_0", "a"}, {"triton_1", "b"}}), graph("-3", {})}),
      ElementsAre("/Net/a/triton_0", "/Net/b/triton_1"));
}

TEST(CompiledLaunchesTest, OfAnotherGraphNothingIsTaken) {
  Program program;
  program.bare("triton_0");
  const std::string place = "/Net/Torch-Compiled Region: 0/0/CompiledFunction/## Call CompiledFxGraph fx7 ##";
  EXPECT_THAT(program.ops({graph("fx8", {{"triton_0"}})}), ElementsAre(place));
  EXPECT_THAT(program.ops({}), ElementsAre(place));
}

TEST(CompiledLaunchesTest, DomainsThatDoNotCountChangeNothing) {
  Program program;
  program.within({"aten::mm"}, "gemm").bare("triton_0");
  const Timeline timeline = program.timeline({graph("fx7", {{"extern_kernels.mm"}, {"triton_0"}})});
  const Fold made = fold(timeline, {.domains = {"mine"}});
  EXPECT_EQ(made.ops[made.instances[made.activity_instance[0]].op].name, "unassociated_gemm");
}

TEST(CompiledLaunchesTest, LayersFoldAsThoseOfEagerCodeDo) {
  Program program;
  std::vector<Launch> launches;
  for (int i = 0; i < 3; ++i) {
    program.within({"aten::mm"}, "gemm").bare("triton_" + std::to_string(i));
    launches.push_back({"extern_kernels.mm", "layers." + std::to_string(i) + "/mlp"});
    launches.push_back({"triton_" + std::to_string(i), "layers." + std::to_string(i) + "/norm"});
  }
  Profile profile{.timeline = program.timeline({graph("fx7", launches)})};
  profile.fold = fold(profile.timeline);
  profile.aggregate = aggregate(profile.timeline, profile.fold);
  std::vector<std::pair<std::string, std::int64_t>> rows;
  for (const OpGroupRow& row : group_ops(profile, By::layer)) rows.emplace_back(row.name, row.gpu_ns);
  EXPECT_THAT(rows, ElementsAre(Pair("/Net/layers/*/mlp", 6), Pair("/Net/layers/*/norm", 6)));
}

}  // namespace
}  // namespace dlkprof::model::compiled_launches_test
