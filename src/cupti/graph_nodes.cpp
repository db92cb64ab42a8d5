#include "cupti/graph_nodes.h"

#include <dlfcn.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

// Of those that kernel nodes have (cuda.h, CUlaunchAttributeID), the ones that change what a launch does or whether it is
// accepted. Priorities do not: there is one launch at a time.
constexpr CUlaunchAttributeID kAttributes[] = {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                               CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                                               CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW};

// A launch with the attribute as it is by itself needs none.
bool is_set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return value.clusterDim.x != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return value.clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
    default:
      return value.accessPolicyWindow.num_bytes != 0;
  }
}

std::string words_of(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_HOST:
      return "it calls functions of the host";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "it records or waits for events";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "it allocates or frees memory";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "it has branches or loops";
    default:
      return "it has nodes of type " + std::to_string(static_cast<int>(type));
  }
}

}  // namespace

const GraphFunctions* GraphFunctions::open() {
  static const GraphFunctions* const functions = []() -> const GraphFunctions* {
    static GraphFunctions table;
    void* const handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
#define X(name, symbol, type)                                             \
  table.name = reinterpret_cast<decltype(&type)>(dlsym(handle, #symbol)); \
  if (table.name == nullptr) return nullptr;
    DLKPROF_GRAPH_FUNCTIONS(X)
#undef X
    return &table;
  }();
  return functions;
}

GraphNodes::GraphNodes(const Driver& driver, const GraphFunctions& functions, CUgraph graph)
    : driver_(driver), functions_(functions) {
  try {
    check(functions_.cuGraphClone(&clone_, graph), "cuGraphClone");
    read(clone_);
  } catch (const Error& error) {
    unusable_ = "it could not be read (" + error.detail() + ")";
  }
  if (!unusable_.empty()) steps_ = {};
}

GraphNodes::~GraphNodes() {
  if (clone_ != nullptr) (void)functions_.cuGraphDestroy(clone_);
}

void GraphNodes::read(CUgraph graph) {
  for (CUgraphNode node : in_order(graph)) {
    if (unusable_.empty()) read_node(node);
  }
}

// Kahn's order (CACM 5, 1962): each node once all are there that it depends on.
std::vector<CUgraphNode> GraphNodes::in_order(CUgraph graph) const {
  std::size_t count = 0, edges = 0;
  check(functions_.cuGraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes");
  check(functions_.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), "cuGraphGetEdges");
  std::vector<CUgraphNode> nodes(count), from(edges), to(edges), order;
  std::vector<CUgraphEdgeData> data(edges);
  if (count > 0) check(functions_.cuGraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes");
  if (edges > 0) check(functions_.cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges), "cuGraphGetEdges");
  std::unordered_map<CUgraphNode, std::size_t> waits_for;
  std::unordered_map<CUgraphNode, std::vector<CUgraphNode>> after;
  for (std::size_t i = 0; i < edges; ++i) {
    ++waits_for[to[i]];
    after[from[i]].push_back(to[i]);
  }
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(order), [&](CUgraphNode node) { return waits_for[node] == 0; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (CUgraphNode next : after[order[i]]) {
      if (--waits_for[next] == 0) order.push_back(next);
    }
  }
  return order;
}

void GraphNodes::read_node(CUgraphNode node) {
  if (steps_.size() >= kMostNodes) {
    unusable_ = "it has more than " + std::to_string(kMostNodes) + " nodes";
    return;
  }
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  check(functions_.cuGraphNodeGetType(node, &type), "cuGraphNodeGetType");
  if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
    steps_.push_back({node, read_kernel(node)});
    if (std::get<Kernel>(steps_.back().what).function == nullptr) unusable_ = "kernels of it are updated from the GPU";
  } else if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    CUDA_MEMCPY3D copy{};
    check(functions_.cuGraphMemcpyNodeGetParams(node, &copy), "cuGraphMemcpyNodeGetParams");
    steps_.push_back({node, copy});
  } else if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
    CUDA_MEMSET_NODE_PARAMS set{};
    check(functions_.cuGraphMemsetNodeGetParams(node, &set), "cuGraphMemsetNodeGetParams");
    steps_.push_back({node, set});
  } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
    CUgraph child = nullptr;
    check(functions_.cuGraphChildGraphNodeGetGraph(node, &child), "cuGraphChildGraphNodeGetGraph");
    read(child);
  } else if (type != CU_GRAPH_NODE_TYPE_EMPTY) {
    unusable_ = words_of(type);
  }
}

// Without a function where kernels of the GPU may change the node.
GraphNodes::Kernel GraphNodes::read_kernel(CUgraphNode node) const {
  Kernel kernel;
  CUlaunchAttributeValue value{};
  const auto has = [&](CUlaunchAttributeID id) {
    value = {};
    return functions_.cuGraphKernelNodeGetAttribute(node, id, &value) == CUDA_SUCCESS;
  };
  if (has(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) && value.deviceUpdatableKernelNode.deviceUpdatable != 0)
    return kernel;
  for (const CUlaunchAttributeID id : kAttributes) {
    if (has(id) && is_set(id, value)) kernel.attributes.push_back({.id = id, .value = value});
  }
  check(functions_.cuGraphKernelNodeGetParams(node, &kernel.params), "cuGraphKernelNodeGetParams");
  kernel.function = kernel.params.func;
  if (kernel.function == nullptr) {
    check(driver_.cuKernelGetFunction(&kernel.function, kernel.params.kern), "cuKernelGetFunction");
  }
  return kernel;
}

CUresult GraphNodes::launch(std::size_t at, CUstream stream) const {
  return std::visit([&](const auto& what) { return launch(what, stream); }, steps_.at(at).what);
}

CUresult GraphNodes::launch(const Kernel& kernel, CUstream stream) const {
  const CUDA_KERNEL_NODE_PARAMS_v2& params = kernel.params;
  CUlaunchConfig config{};
  config.gridDimX = params.gridDimX;
  config.gridDimY = params.gridDimY;
  config.gridDimZ = params.gridDimZ;
  config.blockDimX = params.blockDimX;
  config.blockDimY = params.blockDimY;
  config.blockDimZ = params.blockDimZ;
  config.sharedMemBytes = params.sharedMemBytes;
  config.hStream = stream;
  config.attrs = const_cast<CUlaunchAttribute*>(kernel.attributes.data());
  config.numAttrs = static_cast<unsigned>(kernel.attributes.size());
  return driver_.cuLaunchKernelEx(&config, kernel.function, params.kernelParams, params.extra);
}

CUresult GraphNodes::launch(const CUDA_MEMCPY3D& copy, CUstream stream) const {
  return functions_.cuMemcpy3DAsync(&copy, stream);
}

CUresult GraphNodes::launch(const CUDA_MEMSET_NODE_PARAMS& set, CUstream stream) const {
  const std::size_t pitch = std::max(set.pitch, set.width * set.elementSize);  // of one row the driver asks for none
  const std::size_t rows = std::max<std::size_t>(1, set.height);
  switch (set.elementSize) {
    case 1:
      return functions_.cuMemsetD2D8Async(set.dst, pitch, static_cast<unsigned char>(set.value), set.width, rows, stream);
    case 2:
      return functions_.cuMemsetD2D16Async(set.dst, pitch, static_cast<unsigned short>(set.value), set.width, rows, stream);
    default:
      return functions_.cuMemsetD2D32Async(set.dst, pitch, set.value, set.width, rows, stream);
  }
}

}  // namespace dlkprof::cupti
