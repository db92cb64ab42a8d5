#include "inject/graphs/graph_updates.h"

#include "inject/session/launch_call.h"

namespace dlkprof::inject {
namespace {

constexpr const char* kUpdated = "the program updates it";

template <typename Params>
const Params& params_of(const CUpti_CallbackData& data) {
  return *static_cast<const Params*>(data.functionParams);
}

// Versions of the structure begin alike; the first ends before `kern`.
template <typename Params>
CUDA_KERNEL_NODE_PARAMS_v2 second_version(const Params& of) {
  return {.func = of.func,
          .gridDimX = of.gridDimX,
          .gridDimY = of.gridDimY,
          .gridDimZ = of.gridDimZ,
          .blockDimX = of.blockDimX,
          .blockDimY = of.blockDimY,
          .blockDimZ = of.blockDimZ,
          .sharedMemBytes = of.sharedMemBytes,
          .kernelParams = of.kernelParams,
          .extra = of.extra};
}

CUDA_KERNEL_NODE_PARAMS_v2 second_version(const CUDA_KERNEL_NODE_PARAMS_v3& of) {
  auto params = second_version<CUDA_KERNEL_NODE_PARAMS_v3>(of);
  params.kern = of.kern;
  params.ctx = of.ctx;
  return params;
}

bool follow(CUgraphNode node, const CUgraphNodeParams& params, cupti::GraphNodes& nodes) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return nodes.set(node, second_version(params.kernel));
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return nodes.set(node, params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS_v2& set = params.memset;
      return nodes.set(node, CUDA_MEMSET_NODE_PARAMS{set.dst, set.pitch, set.value, set.elementSize, set.width, set.height});
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return nodes.set_child(node, params.graph.graph);
    default:
      nodes.refuse(kUpdated);
      return false;
  }
}

}  // namespace

// What a call that failed has changed is not known.
bool follow_update(CUpti_CallbackId id, const CUpti_CallbackData& data, cupti::GraphNodes& nodes) {
  const CUpti_CallbackId done = is_refused(data) ? CUpti_CallbackId{CUPTI_DRIVER_TRACE_CBID_INVALID} : id;
  switch (done) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams: {
      const auto& call = params_of<cuGraphExecKernelNodeSetParams_params>(data);
      return nodes.set(call.hNode, second_version(*call.nodeParams));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2: {
      const auto& call = params_of<cuGraphExecKernelNodeSetParams_v2_params>(data);
      return nodes.set(call.hNode, *call.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams: {
      const auto& call = params_of<cuGraphExecMemcpyNodeSetParams_params>(data);
      return nodes.set(call.hNode, *call.copyParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams: {
      const auto& call = params_of<cuGraphExecMemsetNodeSetParams_params>(data);
      return nodes.set(call.hNode, *call.memsetParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams: {
      const auto& call = params_of<cuGraphExecChildGraphNodeSetParams_params>(data);
      return nodes.set_child(call.hNode, call.childGraph);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams: {
      const auto& call = params_of<cuGraphExecNodeSetParams_params>(data);
      return follow(call.hNode, *call.nodeParams, nodes);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2:
      return nodes.set_all(graph_set_to(id, data));
    default:
      nodes.refuse(kUpdated);
      return false;
  }
}

CUgraph graph_set_to(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool sets_all = id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate || id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2;
  if (!sets_all || is_refused(data)) return nullptr;
  return params_of<cuGraphExecUpdate_v2_params>(data).hGraph;  // the first two parameters of both are alike
}

}  // namespace dlkprof::inject
