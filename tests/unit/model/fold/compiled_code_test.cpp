// Facts about compiled code, and whether they hold whatever they say.
#include "model/fold/compiled_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dlkprof::model::compiled_code_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

capture::Fact part(const std::string& name, const std::string& json) { return {"pytorch", "compiled." + name, json}; }

TEST(CompiledCodeTest, ReadsItsPartsInTheirOrder) {
  const std::vector<capture::Fact> facts{
      part("fx7.10", R"({"launches": [["c", "", "", "", 0]], "stacks": ["net.py:3 in forward"]})"),
      part("fx7.0",
           R"({"launches": [["a", "*Net", "layers.0/mlp", "aten.add, aten.mul", 1]], "stacks": ["x", "net.py:7 in mlp"]})"),
      part("fx7.2", R"({"launches": [["b"]]})"),
      {"nvtx", "compiled.fx8.0", R"({"launches": [["not PyTorch's"]]})"},
  };
  const CompiledCode code(facts);
  ASSERT_THAT(code.of_key("fx7"), SizeIs(1));
  const CompiledGraph& graph = *code.of_key("fx7").front();
  ASSERT_THAT(graph.launches, SizeIs(3));
  EXPECT_EQ(graph.launches[0].kernel, "a");
  EXPECT_EQ(graph.launches[0].root, "Net");
  EXPECT_TRUE(graph.launches[0].root_is_called);
  EXPECT_EQ(graph.launches[0].module, "layers.0/mlp");
  EXPECT_EQ(graph.launches[0].ops, "aten.add, aten.mul");
  EXPECT_EQ(graph.stacks[graph.launches[0].stack], "net.py:7 in mlp");
  EXPECT_EQ(graph.launches[1].stack, kNone);
  EXPECT_EQ(graph.stacks[graph.launches[2].stack], "net.py:3 in forward");
  EXPECT_THAT(code.of_key("fx8"), IsEmpty());
}

TEST(CompiledCodeTest, GraphsWithoutKeyAreAllThoseThatARangeWithoutOneMayMean) {
  const CompiledCode code(std::vector<capture::Fact>{part("-1.0", R"({"launches": [["a"]]})"),
                                                     part("-2.0", R"({"launches": [["b"]]})"),
                                                     part("f.0", R"({"launches": [["c"]]})")});
  EXPECT_THAT(code.of_key("None"), SizeIs(2));
}

TEST(CompiledCodeTest, LeavesOutWhatCannotBeRead) {
  for (const std::string& json :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"launches": 7})"),
        std::string(R"({"launches": [7, null, [], {}, [""], [[]]]})"), std::string(R"({"launches": [{"0": "a"}], "stacks": {}})"),
        std::string(60'000, '['), std::string("{\"launches\": [[\"\xff\"]]}")}) {
    const CompiledCode code(std::vector<capture::Fact>{part("f.0", json)});
    for (const CompiledGraph* graph : code.of_key("f")) EXPECT_THAT(graph->launches, IsEmpty()) << json.substr(0, 60);
  }
}

TEST(CompiledCodeTest, TakesNoFactForAPartThatIsNone) {
  for (const char* name : {"", ".", ".0", "f", "f.", "f.x", "f.1x", "f.-1", "f.99999999999"}) {
    EXPECT_TRUE(CompiledCode(std::vector<capture::Fact>{part(name, R"({"launches": [["a"]]})")}).empty()) << name;
  }
}

TEST(CompiledCodeTest, TextsAreCutAndStacksOutOfRangeAreNone) {
  const std::string json = R"({"launches": [[")" + std::string(50'000, 'a') +
                           R"(", "\u001b[31m", "m", "o", 3], ["b", "", "", "", -1]], "stacks": ["s"]})";
  const CompiledCode code(std::vector<capture::Fact>{part("f.0", json)});
  const CompiledGraph& graph = *code.of_key("f").front();
  EXPECT_LE(graph.launches[0].kernel.size(), kMostCompiledText);
  EXPECT_EQ(graph.launches[0].root.find('\x1b'), std::string::npos);
  EXPECT_EQ(graph.launches[0].stack, kNone);
  EXPECT_EQ(graph.launches[1].stack, kNone);
}

TEST(CompiledCodeTest, FindsTheKeyInTheRangeOfACall) {
  EXPECT_EQ(compiled_graph_key("## Call CompiledFxGraph fbvcw ##"), "fbvcw");
  EXPECT_EQ(compiled_graph_key("## Call CompiledFxGraph None ##, op_id = 7"), "None");
  for (const char* message : {"", "## Call CompiledFxGraph fbvcw", "CompiledFxGraph fbvcw ##", "aten::mm"}) {
    EXPECT_EQ(compiled_graph_key(message), "") << message;
  }
}

}  // namespace
}  // namespace dlkprof::model::compiled_code_test
