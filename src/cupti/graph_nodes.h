// A CUDA graph taken apart: its nodes in an order that their dependencies allow, each ready to be launched by itself.
//
// A graph of kernels, copies and sets alone does the same in that order as it does whole. What is launched is read once from a
// clone of the graph (CUDA driver API, "Graph Management"), as programs destroy theirs once it is instantiated.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cupti/driver.h"

namespace dlkprof::cupti {

// Driver functions for graphs: as DLKPROF_DRIVER_FUNCTIONS, but a driver may lack them.
#define DLKPROF_GRAPH_FUNCTIONS(X)                                                                 \
  X(cuGraphCreate, cuGraphCreate, ::cuGraphCreate)                                                 \
  X(cuGraphClone, cuGraphClone, ::cuGraphClone)                                                    \
  X(cuGraphDestroy, cuGraphDestroy, ::cuGraphDestroy)                                              \
  X(cuGraphAddMemsetNode, cuGraphAddMemsetNode, ::cuGraphAddMemsetNode)                            \
  X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, ::cuGraphInstantiateWithFlags)       \
  X(cuGraphExecDestroy, cuGraphExecDestroy, ::cuGraphExecDestroy)                                  \
  X(cuGraphLaunch, cuGraphLaunch, ::cuGraphLaunch)                                                 \
  X(cuGraphLaunch_ptsz, cuGraphLaunch_ptsz, ::cuGraphLaunch)                                       \
  X(cuGraphGetNodes, cuGraphGetNodes, ::cuGraphGetNodes)                                           \
  X(cuGraphGetEdges, cuGraphGetEdges_v2, ::cuGraphGetEdges_v2)                                     \
  X(cuGraphNodeGetType, cuGraphNodeGetType, ::cuGraphNodeGetType)                                  \
  X(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, ::cuGraphKernelNodeGetParams_v2)    \
  X(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, ::cuGraphKernelNodeGetAttribute) \
  X(cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams, ::cuGraphMemcpyNodeGetParams)          \
  X(cuGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, ::cuGraphMemsetNodeGetParams)          \
  X(cuGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, ::cuGraphChildGraphNodeGetGraph) \
  X(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, ::cuMemcpy3DAsync_v2)                                     \
  X(cuMemcpyDtoH, cuMemcpyDtoH_v2, ::cuMemcpyDtoH_v2)                                              \
  X(cuMemsetD8Async, cuMemsetD8Async, ::cuMemsetD8Async)                                           \
  X(cuMemsetD16Async, cuMemsetD16Async, ::cuMemsetD16Async)                                        \
  X(cuMemsetD32Async, cuMemsetD32Async, ::cuMemsetD32Async)                                        \
  X(cuMemsetD2D8Async, cuMemsetD2D8Async, ::cuMemsetD2D8Async)                                     \
  X(cuMemsetD2D16Async, cuMemsetD2D16Async, ::cuMemsetD2D16Async)                                  \
  X(cuMemsetD2D32Async, cuMemsetD2D32Async, ::cuMemsetD2D32Async)

struct GraphFunctions {
#define X(name, symbol, type) decltype(&type) name = nullptr;
  DLKPROF_GRAPH_FUNCTIONS(X)
#undef X
  // Null where the driver lacks one of them. Needs what Driver::open() needs.
  [[nodiscard]] static const GraphFunctions* open();
};

class GraphNodes {
 public:
  // Clones the graph and reads it. Where it cannot be launched node by node, unusable() says why, and there are no nodes.
  GraphNodes(const Driver& driver, const GraphFunctions& functions, CUgraph graph);
  GraphNodes(const GraphNodes&) = delete;
  GraphNodes& operator=(const GraphNodes&) = delete;
  ~GraphNodes();

  // "" where it can be.
  [[nodiscard]] const std::string& unusable() const noexcept { return unusable_; }
  [[nodiscard]] std::size_t size() const noexcept { return steps_.size(); }
  // An executable graph of its own that does nothing, for a launch to be turned to. It is unusable() where none can be made.
  void make_nothing();
  [[nodiscard]] CUgraphExec nothing() const noexcept { return nothing_; }
  // Whether each kernel would be accepted by itself now: functions may have been set otherwise since the graph was made.
  [[nodiscard]] bool are_accepted(CUcontext context) const;
  // Of the clone: CUPTI tells which node of the program's it is a clone of.
  [[nodiscard]] CUgraphNode node(std::size_t at) const { return steps_.at(at).node; }
  // Launches node number `at` into the stream, in whose context it was made. The context is current.
  [[nodiscard]] CUresult launch(std::size_t at, CUstream stream) const;

  static constexpr std::size_t kMostNodes = std::size_t{1} << 14U;

 private:
  struct Kernel {
    CUfunction function = nullptr;
    CUDA_KERNEL_NODE_PARAMS_v2 params{};  // arguments lie in the clone
    std::vector<CUlaunchAttribute> attributes;
  };
  struct Step {
    CUgraphNode node = nullptr;
    std::variant<Kernel, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS> what;
  };

  [[nodiscard]] std::size_t count(CUgraph graph) const;
  void read(CUgraph graph);
  void read_node(CUgraphNode node);
  [[nodiscard]] Kernel read_kernel(CUgraphNode node) const;
  [[nodiscard]] std::vector<CUgraphNode> in_order(CUgraph graph);
  void check(CUresult result, const char* call) const { cupti::check(driver_, result, call); }
  [[nodiscard]] CUresult launch(const Kernel& kernel, CUstream stream) const;
  [[nodiscard]] CUresult launch(const CUDA_MEMCPY3D& copy, CUstream stream) const;
  [[nodiscard]] CUresult launch(const CUDA_MEMSET_NODE_PARAMS& set, CUstream stream) const;

  const Driver& driver_;
  const GraphFunctions& functions_;
  CUgraph clone_ = nullptr;
  CUgraphExec nothing_ = nullptr;
  std::vector<Step> steps_;
  std::string unusable_;
};

}  // namespace dlkprof::cupti
