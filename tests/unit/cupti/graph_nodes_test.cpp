#include "cupti/graph_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dlkprof::cupti::graph_nodes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A graph as the driver tells it: node n is of types[n - 1].
struct Told {
  std::vector<CUgraphNodeType> types;
  std::vector<std::pair<int, int>> edges;
  bool updatable = false;  // its kernels are, from the GPU
  CUresult cloning = CUDA_SUCCESS;
  unsigned char port = 0;       // of each edge
  int most_shared = 48 << 10;   // that the function may be given
  CUcontext context = nullptr;  // of each kernel
  std::vector<std::string> launched;
  int clones = 0;
  std::map<int, unsigned> grids{};  // of nodes that were set
  const char* name = "gemm";        // of each kernel
  CUresult finding = CUDA_SUCCESS;  // a node in the clone
};
Told* g_told = nullptr;

int number(CUgraphNode node) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(node)); }
CUgraphNode node(int number) { return reinterpret_cast<CUgraphNode>(static_cast<std::uintptr_t>(number)); }

CUresult launch_kernel(const CUlaunchConfig* config, CUfunction, void**, void**) {
  g_told->launched.push_back("kernel " + std::to_string(config->gridDimX) + (config->numAttrs > 0 ? " cooperative" : ""));
  return CUDA_SUCCESS;
}

Driver driver_of() {
  DriverFunctions table;
  table.cuGetErrorName = [](CUresult, const char** name) {
    *name = "CUDA_ERROR_OF_TEST";
    return CUDA_SUCCESS;
  };
  table.cuLaunchKernelEx = launch_kernel;
  table.cuKernelGetFunction = [](CUfunction* function, CUkernel) {
    *function = reinterpret_cast<CUfunction>(1);
    return CUDA_SUCCESS;
  };
  table.cuFuncGetAttribute = [](int* value, CUfunction_attribute, CUfunction) {
    *value = g_told->most_shared;
    return CUDA_SUCCESS;
  };
  return Driver(table);
}

void set_reading(GraphFunctions& table) {
  table.cuGraphClone = [](CUgraph* clone, CUgraph) {
    *clone = reinterpret_cast<CUgraph>(1);
    g_told->clones += g_told->cloning == CUDA_SUCCESS ? 1 : 0;
    if (g_told->cloning != CUDA_SUCCESS) *clone = nullptr;
    return g_told->cloning;
  };
  table.cuGraphDestroy = [](CUgraph) {
    --g_told->clones;
    return CUDA_SUCCESS;
  };
  table.cuGraphGetNodes = [](CUgraph, CUgraphNode* nodes, std::size_t* count) {
    *count = g_told->types.size();
    for (std::size_t i = 0; nodes != nullptr && i < *count; ++i) nodes[i] = node(static_cast<int>(*count - i));
    return CUDA_SUCCESS;
  };
  table.cuGraphGetEdges = [](CUgraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
    *count = g_told->edges.size();
    for (std::size_t i = 0; from != nullptr && i < *count; ++i) {
      from[i] = node(g_told->edges[i].first);
      to[i] = node(g_told->edges[i].second);
      data[i].from_port = g_told->port;
    }
    return CUDA_SUCCESS;
  };
  table.cuGraphNodeGetType = [](CUgraphNode of, CUgraphNodeType* type) {
    *type = g_told->types[static_cast<std::size_t>(number(of)) - 1];
    return CUDA_SUCCESS;
  };
}

void set_parameters(GraphFunctions& table) {
  table.cuGraphKernelNodeGetParams = [](CUgraphNode of, CUDA_KERNEL_NODE_PARAMS_v2* params) {
    const auto set = g_told->grids.find(number(of));
    *params = {.gridDimX = set != g_told->grids.end() ? set->second : static_cast<unsigned>(number(of)), .sharedMemBytes = 100};
    params->ctx = g_told->context;
    if (g_told->context == nullptr) params->func = reinterpret_cast<CUfunction>(1);
    return CUDA_SUCCESS;
  };
  table.cuGraphKernelNodeGetAttribute = [](CUgraphNode of, CUlaunchAttributeID id, CUlaunchAttributeValue* value) {
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      value->deviceUpdatableKernelNode.deviceUpdatable = g_told->updatable;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value->cooperative = number(of) == 3;
    return CUDA_SUCCESS;
  };
  table.cuFuncGetName = [](const char** name, CUfunction) {
    *name = g_told->name;
    return CUDA_SUCCESS;
  };
  table.cuGraphKernelNodeSetParams = [](CUgraphNode of, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    g_told->grids[number(of)] = params->gridDimX;
    return CUDA_SUCCESS;
  };
  table.cuGraphNodeFindInClone = [](CUgraphNode* found, CUgraphNode original, CUgraph) {
    *found = original;
    return g_told->finding;
  };
  table.cuGraphMemcpyNodeGetParams = [](CUgraphNode, CUDA_MEMCPY3D* params) {
    *params = {.WidthInBytes = 64};
    return CUDA_SUCCESS;
  };
  table.cuGraphMemsetNodeGetParams = [](CUgraphNode of, CUDA_MEMSET_NODE_PARAMS* params) {
    const unsigned size = number(of) == 1 ? 1 : number(of) == 2 ? 2 : 4;
    *params = {.dst = 64, .pitch = 512, .value = 7, .elementSize = size, .width = 10, .height = size == 2 ? 3U : 1U};
    return CUDA_SUCCESS;
  };
  table.cuMemcpy3DAsync = [](const CUDA_MEMCPY3D* copy, CUstream) {
    g_told->launched.push_back("copy " + std::to_string(copy->WidthInBytes));
    return CUDA_SUCCESS;
  };
  table.cuMemsetD8Async = [](CUdeviceptr, unsigned char, std::size_t width, CUstream) {
    g_told->launched.push_back("set 8 " + std::to_string(width));
    return CUDA_SUCCESS;
  };
  table.cuMemsetD2D16Async = [](CUdeviceptr, std::size_t pitch, unsigned short, std::size_t, std::size_t rows, CUstream) {
    g_told->launched.push_back("set 16 " + std::to_string(pitch) + " " + std::to_string(rows));
    return CUDA_SUCCESS;
  };
  table.cuMemsetD32Async = [](CUdeviceptr, unsigned, std::size_t width, CUstream) {
    g_told->launched.push_back("set 32 " + std::to_string(width));
    return CUDA_SUCCESS;
  };
}

class GraphNodesTest : public testing::Test {
 protected:
  GraphNodesTest() {
    g_told = &told_;
    set_reading(functions_);
    set_parameters(functions_);
  }
  ~GraphNodesTest() override { g_told = nullptr; }

  [[nodiscard]] GraphNodes nodes() const { return {driver_, functions_, nullptr}; }
  [[nodiscard]] std::string reason() const { return nodes().unusable(); }

  Told told_;
  Driver driver_ = driver_of();
  GraphFunctions functions_;
};

TEST_F(GraphNodesTest, ComeAfterThoseThatTheyDependOn) {
  told_.types.assign(5, CU_GRAPH_NODE_TYPE_KERNEL);
  told_.edges = {{5, 1}, {5, 2}, {1, 4}, {2, 4}, {4, 3}};
  const GraphNodes found = nodes();
  ASSERT_EQ("", found.unusable());
  std::vector<int> order;
  for (std::size_t i = 0; i < found.size(); ++i) order.push_back(number(found.node(i)));
  EXPECT_THAT(order, ElementsAre(5, 2, 1, 4, 3)) << "of 1 and 2 the one that is told first comes first";
}

TEST_F(GraphNodesTest, AreLeftTogetherWhereTheyRunSideBySideByIntent) {
  told_.types.assign(2, CU_GRAPH_NODE_TYPE_KERNEL);
  told_.edges = {{1, 2}};
  told_.port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  EXPECT_EQ("", reason());
  told_.port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  EXPECT_THAT(reason(), HasSubstr("side by side"));
}

TEST_F(GraphNodesTest, AreAcceptedAsLongAsTheirFunctionsAreSetForThem) {
  told_.types = {CU_GRAPH_NODE_TYPE_KERNEL};
  EXPECT_TRUE(nodes().are_accepted(nullptr, false));
  told_.most_shared = 99;
  EXPECT_FALSE(nodes().are_accepted(nullptr, false)) << "it takes 100 bytes";
  told_.most_shared = 100;
  told_.context = reinterpret_cast<CUcontext>(7);
  EXPECT_TRUE(nodes().are_accepted(told_.context, false));
  EXPECT_FALSE(nodes().are_accepted(nullptr, false)) << "it is of another context";
  EXPECT_TRUE(nodes().are_accepted(told_.context, true));
  told_.context = nullptr;
  EXPECT_FALSE(nodes().are_accepted(reinterpret_cast<CUcontext>(7), true)) << "of which GPU it is is not told";
}

TEST_F(GraphNodesTest, TellWhetherAKernelIsOfThoseAskedFor) {
  told_.types = {CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL};
  const auto is_gemm = [](std::string_view name) noexcept { return name == "gemm"; };
  EXPECT_TRUE(nodes().holds(is_gemm));
  told_.name = "sum";
  EXPECT_FALSE(nodes().holds(is_gemm));
  told_.name = nullptr;
  EXPECT_TRUE(nodes().holds(is_gemm)) << "it may be one";
}

TEST_F(GraphNodesTest, AreLaunchedAsTheyAre) {
  told_.types = {CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL,
                 CU_GRAPH_NODE_TYPE_EMPTY,  CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET};
  told_.edges = {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
  const GraphNodes found = nodes();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(CUDA_SUCCESS, found.launch(i, nullptr));
  EXPECT_THAT(told_.launched, ElementsAre("set 8 10", "set 16 512 3", "kernel 3 cooperative", "copy 64", "set 32 10"));
}

TEST_F(GraphNodesTest, CannotBeLaunchedAloneWhereTheyAreMoreThanWork) {
  for (const auto& [type, words] :
       std::map<CUgraphNodeType, std::string>{{CU_GRAPH_NODE_TYPE_HOST, "calls functions of the host"},
                                              {CU_GRAPH_NODE_TYPE_MEM_ALLOC, "allocates or frees memory"},
                                              {CU_GRAPH_NODE_TYPE_EVENT_RECORD, "waits for events"},
                                              {CU_GRAPH_NODE_TYPE_CONDITIONAL, "branches or loops"}}) {
    told_.types = {CU_GRAPH_NODE_TYPE_KERNEL, type};
    EXPECT_THAT(reason(), HasSubstr(words));
    EXPECT_EQ(0U, nodes().size());
  }
  told_.types = {CU_GRAPH_NODE_TYPE_MEMCPY};
  EXPECT_EQ("it has no kernels", reason());
  told_.types = {CU_GRAPH_NODE_TYPE_KERNEL};
  told_.updatable = true;
  EXPECT_THAT(reason(), HasSubstr("updated from the GPU"));
}

TEST_F(GraphNodesTest, AreNotReadBeyondALimit) {
  told_.types.assign(GraphNodes::kMostNodes + 1, CU_GRAPH_NODE_TYPE_MEMCPY);
  told_.cloning = CUDA_ERROR_INVALID_VALUE;
  EXPECT_THAT(reason(), HasSubstr("more than 16384 nodes")) << "and not cloned";
}

TEST_F(GraphNodesTest, SayWhatFailed) {
  told_.cloning = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ("it could not be read (cuGraphClone: CUDA_ERROR_OF_TEST)", reason());
}

TEST_F(GraphNodesTest, GiveTheirCloneBack) {
  told_.types = {CU_GRAPH_NODE_TYPE_KERNEL};
  {
    const GraphNodes found = nodes();
    EXPECT_EQ(1, told_.clones);
  }
  EXPECT_EQ(0, told_.clones);
}

TEST_F(GraphNodesTest, FollowWhatTheProgramSets) {
  told_.types = {CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET};
  told_.edges = {{1, 2}, {2, 3}};
  GraphNodes found = nodes();
  EXPECT_TRUE(found.set(node(1), CUDA_KERNEL_NODE_PARAMS_v2{.gridDimX = 50}));
  EXPECT_FALSE(found.set(node(1), CUDA_KERNEL_NODE_PARAMS_v2{.gridDimX = 50})) << "its arguments alone are others";
  EXPECT_FALSE(found.set(node(2), CUDA_MEMCPY3D{.WidthInBytes = 5}));
  EXPECT_FALSE(found.set(node(3), CUDA_MEMSET_NODE_PARAMS{.elementSize = 1, .width = 6, .height = 1}));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(CUDA_SUCCESS, found.launch(i, nullptr));
  EXPECT_THAT(told_.launched, ElementsAre("kernel 50", "copy 5", "set 8 6"));
}

TEST_F(GraphNodesTest, FollowAnotherGraphOfAsManyNodes) {
  told_.types.assign(2, CU_GRAPH_NODE_TYPE_KERNEL);
  told_.edges = {{1, 2}};
  {
    GraphNodes found = nodes();
    const std::size_t shape = found.shape();
    EXPECT_FALSE(found.set_all(nullptr)) << "it does the same";
    EXPECT_EQ(shape, found.shape());
    told_.grids = {{2, 70}};
    EXPECT_TRUE(found.set_all(nullptr));
    EXPECT_NE(shape, found.shape());
    EXPECT_EQ(2, told_.clones) << "the first tells the nodes, the last what they do";
    EXPECT_EQ(CUDA_SUCCESS, found.launch(1, nullptr));
    EXPECT_THAT(told_.launched, ElementsAre("kernel 70"));
    told_.types.assign(3, CU_GRAPH_NODE_TYPE_KERNEL);
    EXPECT_FALSE(found.set_all(nullptr));
    EXPECT_THAT(found.unusable(), HasSubstr("of another size"));
    EXPECT_EQ(0U, found.size());
  }
  EXPECT_EQ(0, told_.clones);
}

TEST_F(GraphNodesTest, AreLeftTogetherOnceTheyCannotBeFollowed) {
  told_.types = {CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY};
  GraphNodes unknown = nodes(), other = nodes(), large = nodes(), childless = nodes();
  EXPECT_FALSE(unknown.set(node(9), CUDA_KERNEL_NODE_PARAMS_v2{}));
  EXPECT_EQ(unknown.unusable(), "the program updates it in a way that could not be followed (it was not read)");
  EXPECT_FALSE(unknown.set(node(1), CUDA_KERNEL_NODE_PARAMS_v2{})) << "and stays so";
  EXPECT_FALSE(other.set(node(2), CUDA_KERNEL_NODE_PARAMS_v2{})) << "it is a copy";
  EXPECT_FALSE(large.set(node(2), CUDA_MEMCPY3D{.WidthInBytes = std::size_t{1} << 31U}));
  EXPECT_THAT(large.unusable(), HasSubstr("2 GiB"));
  EXPECT_FALSE(childless.set_child(node(1), nullptr));
  for (const GraphNodes* nodes : {&unknown, &other, &large, &childless}) EXPECT_EQ(0U, nodes->size());
  GraphNodes updated = nodes();
  EXPECT_FALSE(updated.set_all(nullptr));
  EXPECT_FALSE(updated.set(node(2), CUDA_MEMCPY3D{.WidthInBytes = 5})) << "nodes may come in another order now";
  EXPECT_THAT(updated.unusable(), HasSubstr("all of it was set before"));
  told_.finding = CUDA_ERROR_INVALID_VALUE;
  GraphNodes lost = nodes();
  EXPECT_FALSE(lost.set(node(2), CUDA_MEMCPY3D{}));
  EXPECT_THAT(lost.unusable(), HasSubstr("cuGraphNodeFindInClone: CUDA_ERROR_OF_TEST"));
}

}  // namespace
}  // namespace dlkprof::cupti::graph_nodes_test
