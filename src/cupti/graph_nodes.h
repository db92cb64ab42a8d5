// A CUDA graph taken apart: its nodes in an order that their dependencies allow, each ready to be launched by itself.
//
// A graph of kernels, copies and sets alone does the same in that order as it does whole. What is launched is read from a clone
// of the graph (CUDA driver API, "Graph Management"), as programs destroy theirs once it is instantiated, and follows what the
// program sets of the executable graph later: the driver does not tell that.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  X(cuFuncGetName, cuFuncGetName, ::cuFuncGetName)                                                 \
  X(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, ::cuGraphKernelNodeGetParams_v2)    \
  X(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, ::cuGraphKernelNodeGetAttribute) \
  X(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2, ::cuGraphKernelNodeSetParams_v2)    \
  X(cuGraphNodeFindInClone, cuGraphNodeFindInClone, ::cuGraphNodeFindInClone)                      \
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
  // A graph of ours.
  class Owned {
   public:
    Owned() = default;
    Owned(const GraphFunctions& functions, CUgraph graph) : functions_(&functions), graph_(graph) {}
    Owned(Owned&& other) noexcept : functions_(other.functions_), graph_(std::exchange(other.graph_, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
      std::swap(functions_, other.functions_);
      std::swap(graph_, other.graph_);
      return *this;
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() {
      if (graph_ != nullptr) (void)functions_->cuGraphDestroy(graph_);
    }
    [[nodiscard]] CUgraph get() const noexcept { return graph_; }

   private:
    const GraphFunctions* functions_ = nullptr;
    CUgraph graph_ = nullptr;
  };

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
  // `several_gpus`: of the process, so kernels may be another's.
  [[nodiscard]] bool are_accepted(CUcontext context, bool several_gpus) const;
  // Whether one of its kernels has such a mangled name, or one that the driver does not tell.
  [[nodiscard]] bool holds(bool (*is_one)(std::string_view mangled) noexcept) const;
  // A hash of the launch configurations of its kernels, in order.
  [[nodiscard]] std::size_t shape() const;
  // Of the clone: CUPTI tells which node of the program's it is a clone of.
  [[nodiscard]] CUgraphNode node(std::size_t at) const { return steps_.at(at).node; }
  // Launches node number `at` into the stream, in whose context it was made. The context is current.
  [[nodiscard]] CUresult launch(std::size_t at, CUstream stream) const;

  // What the program has set of its executable graph; `node` is of the graph that was read, which lives. They say whether launch
  // configurations are others now. What cannot be followed makes the graph unusable().
  bool set(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2& params);
  bool set(CUgraphNode node, const CUDA_MEMCPY3D& copy);
  bool set(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS& memset);
  bool set_child(CUgraphNode node, CUgraph child);
  // To what another graph does, whose nodes depend on one another alike.
  bool set_all(CUgraph graph);
  void refuse(std::string why);

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

  using Steps = std::vector<Step>;
  // A child graph of the clone: its part of the steps, and what the program set last.
  struct Child {
    CUgraph graph = nullptr;
    std::size_t first = 0, count = 0;
    Owned set{};
  };
  using Children = std::map<CUgraphNode, Child>;  // by node of the clone

  [[nodiscard]] std::size_t count(CUgraph graph) const;
  [[nodiscard]] Owned clone(CUgraph graph) const;
  // `children`: null where they are of no matter.
  void read(CUgraph graph, Steps& steps, Children* children);
  void read_node(CUgraphNode node, Steps& steps, Children* children);
  [[nodiscard]] Steps read(CUgraph graph);
  [[nodiscard]] Kernel read_kernel(CUgraphNode node) const;
  void read_parameters(CUgraphNode node, Kernel& kernel) const;
  void look_at(const CUDA_MEMCPY3D& copy);
  template <typename Set>
  bool follow(Set set);
  [[nodiscard]] CUgraphNode in_clone(CUgraphNode node) const;
  [[nodiscard]] Step& step_of(CUgraphNode node);
  [[nodiscard]] static bool are_alike(const Step& one, const Step& other);
  [[nodiscard]] bool replace(std::size_t first, const Steps& others);
  [[nodiscard]] std::vector<CUgraphNode> in_order(CUgraph graph);
  void check(CUresult result, const char* call) const { cupti::check(driver_, result, call); }
  [[nodiscard]] CUresult launch(const Kernel& kernel, CUstream stream) const;
  [[nodiscard]] CUresult launch(const CUDA_MEMCPY3D& copy, CUstream stream) const;
  [[nodiscard]] CUresult launch(const CUDA_MEMSET_NODE_PARAMS& set, CUstream stream) const;

  const Driver& driver_;
  const GraphFunctions& functions_;
  Owned clone_, set_;  // the second: what the program set all to last
  CUgraphExec nothing_ = nullptr;
  Steps steps_;
  std::unordered_map<CUgraphNode, std::size_t> places_;  // of nodes among them, once one is set
  Children children_;
  std::string unusable_;
};

}  // namespace dlkprof::cupti
