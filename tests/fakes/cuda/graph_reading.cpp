// What a graph consists of, as the driver tells it, and how sets of memory are added to it. Nodes depend on the one before them.
#include <algorithm>
#include <cstring>

#include "cuda/state.h"

namespace fakes {

void set_memory(const CUDA_MEMSET_NODE_PARAMS& set) {
  const auto context = current_context();
  const std::lock_guard lock(context->mutex);
  finish(context);
  const std::size_t pitch = std::max(set.pitch, set.width * set.elementSize);
  for (std::size_t row = 0; row < std::max<std::size_t>(1, set.height); ++row) {
    for (std::size_t i = 0; i < set.width; ++i) {
      std::memcpy(reinterpret_cast<char*>(set.dst) + row * pitch + i * set.elementSize, &set.value, set.elementSize);
    }
  }
}

namespace {

CUresult set_rows(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned bytes, std::size_t width, std::size_t height) {
  set_memory({.dst = to, .pitch = pitch, .value = value, .elementSize = bytes, .width = width, .height = height});
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace fakes

extern "C" {

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, std::size_t,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  FAKE_ENTRY(cuGraphAddMemsetNode);
  *node = &graph->nodes.emplace_back(CUgraphNode_st{.set = *params});
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  FAKE_ENTRY(cuGraphGetNodes);
  for (std::size_t i = 0; nodes != nullptr && i < std::min(*count, graph->nodes.size()); ++i) nodes[i] = &graph->nodes[i];
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData*, std::size_t* count) {
  FAKE_ENTRY(cuGraphGetEdges_v2);
  const std::size_t edges = graph->nodes.empty() ? 0 : graph->nodes.size() - 1;
  for (std::size_t i = 0; from != nullptr && i < std::min(*count, edges); ++i) {
    from[i] = &graph->nodes[i];
    to[i] = &graph->nodes[i + 1];
  }
  *count = edges;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  FAKE_ENTRY(cuGraphNodeGetType);
  *type = node->set ? CU_GRAPH_NODE_TYPE_MEMSET : node->child != nullptr ? CU_GRAPH_NODE_TYPE_GRAPH : CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params) {
  FAKE_ENTRY(cuGraphKernelNodeGetParams_v2);
  node->arguments.clear();
  std::size_t at = 0;
  for (const std::size_t bytes : node->run.kernel->parameters) {
    node->arguments.push_back(node->run.arguments.data() + at);
    at += bytes;
  }
  const fakes::LaunchShape& shape = node->run.shape;
  *params = {};
  params->func = node->function;
  params->gridDimX = static_cast<unsigned>(shape.grid[0]);
  params->gridDimY = static_cast<unsigned>(shape.grid[1]);
  params->gridDimZ = static_cast<unsigned>(shape.grid[2]);
  params->blockDimX = static_cast<unsigned>(shape.block[0]);
  params->blockDimY = static_cast<unsigned>(shape.block[1]);
  params->blockDimZ = static_cast<unsigned>(shape.block[2]);
  params->sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
  params->kernelParams = node->arguments.data();
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue* value) {
  FAKE_ENTRY(cuGraphKernelNodeGetAttribute);
  *value = {};
  return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  FAKE_ENTRY(cuGraphMemsetNodeGetParams);
  *params = *node->set;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode, CUDA_MEMCPY3D*) {
  FAKE_ENTRY(cuGraphMemcpyNodeGetParams);
  return CUDA_ERROR_INVALID_VALUE;  // there are no such nodes here
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* child) {
  FAKE_ENTRY(cuGraphChildGraphNodeGetGraph);
  *child = node->child;
  return CUDA_SUCCESS;
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D*, CUstream) {
  FAKE_ENTRY(cuMemcpy3DAsync_v2);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t width, CUstream) {
  FAKE_ENTRY(cuMemsetD8Async);
  return fakes::set_rows(to, 0, value, 1, width, 1);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t width, CUstream) {
  FAKE_ENTRY(cuMemsetD16Async);
  return fakes::set_rows(to, 0, value, 2, width, 1);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t width, CUstream) {
  FAKE_ENTRY(cuMemsetD32Async);
  return fakes::set_rows(to, 0, value, 4, width, 1);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height,
                           CUstream) {
  FAKE_ENTRY(cuMemsetD2D8Async);
  return fakes::set_rows(to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height,
                            CUstream) {
  FAKE_ENTRY(cuMemsetD2D16Async);
  return fakes::set_rows(to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, CUstream) {
  FAKE_ENTRY(cuMemsetD2D32Async);
  return fakes::set_rows(to, pitch, value, 4, width, height);
}

}  // extern "C"
