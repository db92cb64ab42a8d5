#include "cupti/graph_nodes.h"

#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <new>
#include <queue>
#include <unordered_map>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

// Of those that kernel nodes have (cuda.h, CUlaunchAttributeID), the ones that change what a launch does, how fast, or whether it
// is accepted. Priorities do not: there is one launch at a time.
constexpr struct {
  CUlaunchAttributeID id;
  bool known;  // by every driver that can tell edges
} kAttributes[] = {
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, true},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, true},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, true},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, true},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, false},
#if CUDA_VERSION >= 12080
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, false},
#endif
};

constexpr std::size_t kMostBytes = std::size_t{1} << 31U;  // of one copy; beyond it pitches are too large for the driver

constexpr unsigned kWhole = 100;  // per cent

// A launch with the attribute as it is by itself needs none.
bool is_set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return value.clusterDim.x != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return value.clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return value.sharedMemCarveout != 0 && value.sharedMemCarveout <= kWhole;  // else it is the function's
#if CUDA_VERSION >= 12080
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return value.preferredClusterDim.x != 0;
#endif
    default:
      return value.accessPolicyWindow.num_bytes != 0;
  }
}

std::string too_large() { return "it has more than " + std::to_string(GraphNodes::kMostNodes) + " nodes"; }

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
    if (count(graph) > kMostNodes) {
      unusable_ = too_large();
      return;
    }
    clone_ = clone(graph);
    read(clone_.get(), steps_, &children_);
  } catch (const Error& error) {
    unusable_ = "it could not be read (" + error.detail() + ")";
  } catch (const std::bad_alloc&) {
    unusable_ = "there is no memory for it";
  }
  const bool has_kernels =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return std::holds_alternative<Kernel>(step.what); });
  if (unusable_.empty() && !has_kernels) unusable_ = "it has no kernels";
  if (!unusable_.empty()) refuse(unusable_);
}

GraphNodes::~GraphNodes() {
  if (nothing_ != nullptr) (void)functions_.cuGraphExecDestroy(nothing_);
}

void GraphNodes::refuse(std::string why) {
  unusable_ = std::move(why);
  steps_ = {};
  places_ = {};
  children_.clear();
}

GraphNodes::Owned GraphNodes::clone(CUgraph graph) const {
  CUgraph made = nullptr;
  check(functions_.cuGraphClone(&made, graph), "cuGraphClone");
  return {functions_, made};
}

std::size_t GraphNodes::count(CUgraph graph) const {
  std::size_t nodes = 0;
  check(functions_.cuGraphGetNodes(graph, nullptr, &nodes), "cuGraphGetNodes");
  return nodes;
}

void GraphNodes::make_nothing() {
  if (!unusable_.empty()) return;
  CUgraph graph = nullptr;
  if (functions_.cuGraphCreate(&graph, 0) == CUDA_SUCCESS) {
    if (functions_.cuGraphInstantiateWithFlags(&nothing_, graph, 0) != CUDA_SUCCESS) nothing_ = nullptr;
    (void)functions_.cuGraphDestroy(graph);
  }
  if (nothing_ == nullptr) unusable_ = "none could be made to take its place";
}

void GraphNodes::read(CUgraph graph, Steps& steps, Children* children) {
  for (CUgraphNode node : in_order(graph)) {
    if (unusable_.empty()) read_node(node, steps, children);
  }
}

GraphNodes::Steps GraphNodes::read(CUgraph graph) {
  Steps steps;
  read(graph, steps, nullptr);
  return steps;
}

// Each node once all are there that it depends on; of several that could come next the one that the driver names first. That is
// the order in which the program made them, as far as was seen, and the same for every rank.
std::vector<CUgraphNode> GraphNodes::in_order(CUgraph graph) {
  std::size_t nodes_told = count(graph), edges = 0;
  check(functions_.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), "cuGraphGetEdges");
  std::vector<CUgraphNode> nodes(nodes_told), from(edges), to(edges), order;
  std::vector<CUgraphEdgeData> data(edges);
  if (nodes_told > 0) check(functions_.cuGraphGetNodes(graph, nodes.data(), &nodes_told), "cuGraphGetNodes");
  if (edges > 0) check(functions_.cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &edges), "cuGraphGetEdges");
  std::unordered_map<CUgraphNode, std::size_t> place;
  for (std::size_t i = 0; i < nodes.size(); ++i) place.emplace(nodes[i], i);
  std::vector<std::size_t> waits_for(nodes.size());
  std::vector<std::vector<std::size_t>> after(nodes.size());
  for (std::size_t i = 0; i < edges; ++i) {
    if (data[i].from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) unusable_ = "kernels of it run side by side by intent";
    ++waits_for.at(place.at(to[i]));
    after.at(place.at(from[i])).push_back(place.at(to[i]));
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waits_for[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(nodes[next]);
    for (const std::size_t later : after[next]) {
      if (--waits_for[later] == 0) ready.push(later);
    }
  }
  return order;
}

void GraphNodes::read_node(CUgraphNode node, Steps& steps, Children* children) {
  if (steps.size() >= kMostNodes) {
    unusable_ = too_large();
    return;
  }
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  check(functions_.cuGraphNodeGetType(node, &type), "cuGraphNodeGetType");
  if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
    steps.push_back({node, read_kernel(node)});
    if (std::get<Kernel>(steps.back().what).function == nullptr) unusable_ = "kernels of it are updated from the GPU";
  } else if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    CUDA_MEMCPY3D copy{};
    check(functions_.cuGraphMemcpyNodeGetParams(node, &copy), "cuGraphMemcpyNodeGetParams");
    look_at(copy);
    steps.push_back({node, copy});
  } else if (type == CU_GRAPH_NODE_TYPE_MEMSET) {
    CUDA_MEMSET_NODE_PARAMS set{};
    check(functions_.cuGraphMemsetNodeGetParams(node, &set), "cuGraphMemsetNodeGetParams");
    steps.push_back({node, set});
  } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
    CUgraph child = nullptr;
    check(functions_.cuGraphChildGraphNodeGetGraph(node, &child), "cuGraphChildGraphNodeGetGraph");
    const std::size_t first = steps.size();
    read(child, steps, children);
    if (children != nullptr) (*children)[node] = {.graph = child, .first = first, .count = steps.size() - first};
  } else if (type != CU_GRAPH_NODE_TYPE_EMPTY) {
    unusable_ = words_of(type);
  }
}

void GraphNodes::look_at(const CUDA_MEMCPY3D& copy) {
  if (copy.WidthInBytes >= kMostBytes) unusable_ = "it copies 2 GiB at once";
}

// Without a function where kernels of the GPU may change the node. Attributes that the driver does not know are not set.
GraphNodes::Kernel GraphNodes::read_kernel(CUgraphNode node) const {
  Kernel kernel;
  const auto value_of = [&](CUlaunchAttributeID id, bool known) {
    CUlaunchAttributeValue value{};
    const CUresult result = functions_.cuGraphKernelNodeGetAttribute(node, id, &value);
    if (known) check(result, "cuGraphKernelNodeGetAttribute");
    return result == CUDA_SUCCESS ? value : CUlaunchAttributeValue{};
  };
  const auto updatable = value_of(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, false);
  if (updatable.deviceUpdatableKernelNode.deviceUpdatable != 0) return kernel;
  for (const auto& [id, known] : kAttributes) {
    CUlaunchAttribute attribute{};
    attribute.id = id;
    attribute.value = value_of(id, known);
    if (is_set(id, attribute.value)) kernel.attributes.push_back(attribute);
  }
  read_parameters(node, kernel);
  return kernel;
}

void GraphNodes::read_parameters(CUgraphNode node, Kernel& kernel) const {
  check(functions_.cuGraphKernelNodeGetParams(node, &kernel.params), "cuGraphKernelNodeGetParams");
  kernel.function = kernel.params.func;
  if (kernel.function == nullptr) {
    check(driver_.cuKernelGetFunction(&kernel.function, kernel.params.kern), "cuKernelGetFunction");
  }
}

// What the driver does not tell of is taken to be as it was, but for the GPU where there are several.
bool GraphNodes::are_accepted(CUcontext context, bool several_gpus) const {
  constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  return std::all_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    const auto* const kernel = std::get_if<Kernel>(&step.what);
    if (kernel == nullptr) return true;
    int most = 0;  // bytes
    const bool told = driver_.cuFuncGetAttribute(&most, kShared, kernel->function) == CUDA_SUCCESS;
    const bool fits = !told || most < 0 || kernel->params.sharedMemBytes <= static_cast<unsigned>(most);
    const bool has_context = kernel->params.func == nullptr && kernel->params.ctx != nullptr;  // else it is the function's
    return fits && (kernel->params.ctx == context || !(several_gpus || has_context));
  });
}

bool GraphNodes::holds(bool (*is_one)(std::string_view mangled) noexcept) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    const auto* const kernel = std::get_if<Kernel>(&step.what);
    const char* name = nullptr;
    if (kernel == nullptr) return false;
    return functions_.cuFuncGetName(&name, kernel->function) != CUDA_SUCCESS || name == nullptr || is_one(name);
  });
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
  const auto byte = static_cast<unsigned char>(set.value);
  const auto two = static_cast<unsigned short>(set.value);
  const bool one_row = set.height <= 1;  // whose pitch says nothing
  switch (set.elementSize) {
    case 1:
      return one_row ? functions_.cuMemsetD8Async(set.dst, byte, set.width, stream)
                     : functions_.cuMemsetD2D8Async(set.dst, set.pitch, byte, set.width, set.height, stream);
    case 2:
      return one_row ? functions_.cuMemsetD16Async(set.dst, two, set.width, stream)
                     : functions_.cuMemsetD2D16Async(set.dst, set.pitch, two, set.width, set.height, stream);
    default:
      return one_row ? functions_.cuMemsetD32Async(set.dst, set.value, set.width, stream)
                     : functions_.cuMemsetD2D32Async(set.dst, set.pitch, set.value, set.width, set.height, stream);
  }
}

}  // namespace dlkprof::cupti
