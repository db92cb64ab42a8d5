// What is set of the nodes of graphs, and of executable ones. Those are named by the nodes of the graph that they were made of.
#include <algorithm>

#include "cuda/state.h"

namespace fakes {

CUgraphNode find_in_clone(CUgraph clone, CUgraphNode original) {
  const auto found = std::find_if(clone->nodes.begin(), clone->nodes.end(),
                                  [&](const CUgraphNode_st& node) { return node.original == original; });
  return found == clone->nodes.end() ? nullptr : &*found;
}

CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2& params) {
  if (node == nullptr || kernel_of(params.func) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  node->function = params.func;
  node->run.kernel = kernel_of(params.func);
  node->run.arguments = pack(*node->run.kernel, params.kernelParams);
  LaunchShape& shape = node->run.shape;
  const unsigned grid[] = {params.gridDimX, params.gridDimY, params.gridDimZ};
  const unsigned block[] = {params.blockDimX, params.blockDimY, params.blockDimZ};
  for (int i = 0; i < 3; ++i) {
    shape.grid[i] = static_cast<int>(grid[i]);
    shape.block[i] = static_cast<int>(block[i]);
  }
  shape.shared_bytes = static_cast<int>(params.sharedMemBytes);
  return CUDA_SUCCESS;
}

}  // namespace fakes

extern "C" {

CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode original, CUgraph clone) {
  FAKE_ENTRY(cuGraphNodeFindInClone);
  *found = fakes::find_in_clone(clone, original);
  return *found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
  FAKE_ENTRY(cuGraphKernelNodeSetParams_v2);
  return fakes::set_kernel(node, *params);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* values) {
  FAKE_ENTRY(cuGraphExecKernelNodeSetParams_v2);
  const cuGraphExecKernelNodeSetParams_v2_params params{executable, node, values};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2, "cuGraphExecKernelNodeSetParams_v2", &params);
  return call.gives(fakes::set_kernel(fakes::find_in_clone(executable->graph, node), *values));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* values,
                                        CUcontext context) {
  FAKE_ENTRY(cuGraphExecMemsetNodeSetParams);
  const cuGraphExecMemsetNodeSetParams_params params{executable, node, values, context};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, "cuGraphExecMemsetNodeSetParams", &params);
  const CUgraphNode found = fakes::find_in_clone(executable->graph, node);
  if (found == nullptr) return call.gives(CUDA_ERROR_INVALID_VALUE);
  found->set = *values;
  return call.gives(CUDA_SUCCESS);
}

// As cuGraphExecUpdate does with all of a graph.
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child) {
  FAKE_ENTRY(cuGraphExecChildGraphNodeSetParams);
  const cuGraphExecChildGraphNodeSetParams_params params{executable, node, child};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams, "cuGraphExecChildGraphNodeSetParams", &params);
  const CUgraphNode found = fakes::find_in_clone(executable->graph, node);
  if (found == nullptr || found->child == nullptr || found->child->nodes.size() != child->nodes.size()) {
    return call.gives(CUDA_ERROR_INVALID_VALUE);
  }
  for (std::size_t i = 0; i < child->nodes.size(); ++i) found->child->nodes[i].run = child->nodes[i].run;
  return call.gives(CUDA_SUCCESS);
}

}  // extern "C"
