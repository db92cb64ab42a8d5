// CUDA graphs: what is captured, cloned, put into others, instantiated, updated, launched and destroyed; and what CUPTI is told
// of it, as the real driver was seen to (CUDA 13.0).
#include <atomic>
#include <cstdlib>

#include "cuda/state.h"

namespace fakes {
namespace {

constexpr unsigned kGraphShift = 32;

std::uint32_t next_id() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}

void tell(CUpti_CallbackId id, CUpti_GraphData data) {
  const auto* told = hooks();
  if (told == nullptr) return;
  CUpti_ResourceData resource{.context = current_context(), .resourceDescriptor = &data};
  told->resource(id, resource);
}

CUgraphNodeType type_of(const CUgraphNode_st& node) {
  if (node.set) return CU_GRAPH_NODE_TYPE_MEMSET;
  return node.child != nullptr ? CU_GRAPH_NODE_TYPE_GRAPH : CU_GRAPH_NODE_TYPE_KERNEL;
}

CUgraphNode_st& add_node(CUgraph graph, CUgraphNode_st node) {
  node.id = std::uint64_t{graph->id} << kGraphShift | (graph->nodes.size() + 1);
  CUgraphNode_st& added = graph->nodes.emplace_back(std::move(node));
  tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, {.graph = graph, .node = &added, .nodeType = type_of(added)});
  return added;
}

// Of a graph that nobody has seen yet.
CUgraph clone_into(CUgraph clone, CUgraph original);
CUgraph clone_of(CUgraph original) {
  auto* const clone = new CUgraph_st{.id = next_id()};
  tell(CUPTI_CBID_RESOURCE_GRAPH_CLONED, {.graph = clone, .originalGraph = original});
  return clone_into(clone, original);
}

CUgraph clone_into(CUgraph clone, CUgraph original) {
  for (CUgraphNode_st& node : original->nodes) {
    CUgraphNode_st copy{.run = node.run,
                        .function = node.function,
                        .child = node.child == nullptr ? nullptr : clone_of(node.child),
                        .set = node.set,
                        .original = &node};
    CUgraphNode_st& added = add_node(clone, std::move(copy));
    tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
         {.graph = clone, .originalGraph = original, .node = &added, .originalNode = &node, .nodeType = type_of(added)});
  }
  return clone;
}

void destroy(CUgraph graph) {
  tell(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = graph});
  for (CUgraphNode_st& node : graph->nodes) {
    if (node.child != nullptr) destroy(node.child);
  }
  delete graph;
}

void launch_nodes(CUgraph graph, std::uint32_t correlation) {
  for (const CUgraphNode_st& node : graph->nodes) {
    if (node.child != nullptr) {
      launch_nodes(node.child, correlation);
      continue;
    }
    if (node.set) {
      set_memory(*node.set);
      continue;
    }
    KernelRun run = node.run;
    run.correlation = correlation;
    run.graph_node = node.id;
    enqueue(std::move(run));
  }
}

}  // namespace

CUgraph make_graph() {
  auto* const graph = new CUgraph_st{.id = next_id()};
  tell(CUPTI_CBID_RESOURCE_GRAPH_CREATED, {.graph = graph});
  return graph;
}

void capture_node(CUgraph graph, KernelRun run, CUfunction function) {
  add_node(graph, {.run = std::move(run), .function = function});
}

}  // namespace fakes

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  FAKE_ENTRY(cuGraphCreate);
  *graph = fakes::make_graph();
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode*, std::size_t,
                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  FAKE_ENTRY(cuGraphAddKernelNode_v2);
  fakes::KernelRun run{};
  run.context = fakes::current_context();
  CUgraphNode_st made{.run = std::move(run)};
  const CUresult result = fakes::set_kernel(&made, *params);
  if (result == CUDA_SUCCESS) *node = &fakes::add_node(graph, std::move(made));
  return result;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, std::size_t, CUgraph child) {
  FAKE_ENTRY(cuGraphAddChildGraphNode);
  *node = &fakes::add_node(graph, {.child = fakes::clone_of(child)});
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  FAKE_ENTRY(cuGraphClone);
  *clone = fakes::clone_of(original);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  FAKE_ENTRY(cuGraphInstantiateWithFlags);
  const cuGraphInstantiateWithFlags_params params{executable, graph, flags};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", &params);
  if (graph == nullptr) return call.gives(CUDA_ERROR_INVALID_VALUE);
  const std::uint32_t id = fakes::next_id();
  *executable = new CUgraphExec_st{.id = id, .graph = fakes::clone_into(new CUgraph_st{.id = id}, graph)};
  fakes::tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, {.graph = graph, .graphExec = *executable});
  return call.gives(CUDA_SUCCESS);
}

// Its nodes stay what they are, and run what those of the graph run.
CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  FAKE_ENTRY(cuGraphExecUpdate_v2);
  const cuGraphExecUpdate_v2_params params{executable, graph, info};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, "cuGraphExecUpdate_v2", &params);
  info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (graph->nodes.size() != executable->graph->nodes.size()) return call.gives(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) executable->graph->nodes[i].run = graph->nodes[i].run;
  info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  return call.gives(CUDA_SUCCESS);
}

// Goes on with the arguments as the callback has left them, as the real driver was seen to; FAKE_KEEPS_ARGUMENTS is one that does
// not.
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  FAKE_ENTRY(cuGraphLaunch);
  cuGraphLaunch_params params{executable, stream};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch", &params);
  if (std::getenv("FAKE_KEEPS_ARGUMENTS") == nullptr) executable = params.hGraph;
  if (executable == nullptr) return call.gives(CUDA_ERROR_INVALID_VALUE);
  fakes::launch_nodes(executable->graph, call.correlation());
  return call.gives(CUDA_SUCCESS);
}

__attribute__((visibility("default"))) CUresult cuGraphLaunch_ptsz(CUgraphExec executable, CUstream stream) {
  FAKE_ENTRY(cuGraphLaunch_ptsz);
  cuGraphLaunch_ptsz_params params{executable, stream};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, "cuGraphLaunch_ptsz", &params);
  if (std::getenv("FAKE_KEEPS_ARGUMENTS") == nullptr) executable = params.hGraphExec;
  if (executable == nullptr) return call.gives(CUDA_ERROR_INVALID_VALUE);
  fakes::launch_nodes(executable->graph, call.correlation());
  return call.gives(CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  FAKE_ENTRY(cuGraphExecDestroy);
  const cuGraphExecDestroy_params params{executable};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, "cuGraphExecDestroy", &params);
  fakes::destroy(executable->graph);
  delete executable;
  return call.gives(CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph graph) {
  FAKE_ENTRY(cuGraphDestroy);
  fakes::destroy(graph);
  return CUDA_SUCCESS;
}

}  // extern "C"
