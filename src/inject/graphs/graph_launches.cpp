#include "inject/graphs/graph_launches.h"

#include <cstdint>
#include <utility>

namespace dlkprof::inject {
namespace {

constexpr const char* kUpdated = "the program updates it";
constexpr const char* kTooMany = "there are too many";
constexpr const char* kByKernels = "kernels of the program launch graphs";
constexpr const char* kArgumentsKept = "this driver does not let a launch be replaced";

}  // namespace

// CUPTI shows them as const, and the driver reads them when the callback has returned.
GraphLaunchCall read_graph_launch(CUpti_CallbackId entry, const CUpti_CallbackData& data) {
  void* const params = const_cast<void*>(data.functionParams);
  if (entry == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch) {
    auto& plain = *static_cast<cuGraphLaunch_params*>(params);
    return {plain.hGraph, plain.hStream};
  }
  auto& per_thread = *static_cast<cuGraphLaunch_ptsz_params*>(params);
  return {per_thread.hGraphExec, per_thread.hStream != nullptr ? per_thread.hStream : CU_STREAM_PER_THREAD};
}

void GraphLaunches::made(CUgraphExec executable, CUgraph graph) {
  const cupti::GraphFunctions* functions = cupti::GraphFunctions::open();
  if (functions == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    if (auto known = known_.find(executable); known != known_.end()) forget(known->second);
    Known& known = known_[executable] = {};
    if (nodes_ > kMostNodes) known.unusable = kTooMany;
    if (!known.unusable.empty()) return;
  }
  auto nodes = std::make_shared<const cupti::GraphNodes>(driver_, *functions, graph);  // CUPTI calls back: without the lock
  const std::lock_guard lock(mutex_);
  Known& known = known_[executable];
  known.unusable = nodes->unusable();
  if (!known.unusable.empty()) return;
  nodes_ += nodes->size();
  known.graph = std::make_shared<Graph>(Graph{.nodes = std::move(nodes)});
}

void GraphLaunches::made_for_gpu() {
  const std::lock_guard lock(mutex_);
  launched_by_kernels_ = true;
}

void GraphLaunches::forget(Known& known) {
  if (known.graph != nullptr) nodes_ -= known.graph->nodes->size();
  known.graph = nullptr;
}

void GraphLaunches::updated(CUgraphExec executable) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end() || !known->second.unusable.empty()) return;
  forget(known->second);
  known->second.unusable = kUpdated;
}

void GraphLaunches::destroyed(CUgraphExec executable) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end()) return;
  count_unusable(known->second);
  forget(known->second);
  known_.erase(known);
}

void GraphLaunches::count_unusable(const Known& known) {
  if (known.launched && !known.unusable.empty()) ++unusable_[known.unusable];
}

std::shared_ptr<GraphLaunches::Graph> GraphLaunches::find(CUgraphExec executable) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end()) return nullptr;
  if (launched_by_kernels_ && known->second.unusable.empty()) {
    forget(known->second);
    known->second.unusable = kByKernels;
  }
  known->second.launched = true;
  return known->second.graph;
}

bool GraphLaunches::works(ThreadState& thread) {
  if (!works_) works_ = try_out(thread);
  return *works_;
}

// A graph that writes a byte is launched, and turned to one without nodes: the byte must stay what it was.
bool GraphLaunches::try_out(ThreadState& thread) const {
  const cupti::GraphFunctions& functions = *cupti::GraphFunctions::open();
  const OwnCalls own(thread);
  CUcontext context = nullptr;
  CUgraph writes = nullptr, nothing = nullptr;
  CUgraphExec writing = nullptr, empty = nullptr;
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS set{.dst = 0, .pitch = 1, .value = 1, .elementSize = 1, .width = 1, .height = 1};
  bool done = driver_.cuCtxGetCurrent(&context) == CUDA_SUCCESS && driver_.cuMemAlloc(&set.dst, 1) == CUDA_SUCCESS &&
              driver_.cuMemsetD8(set.dst, 0, 1) == CUDA_SUCCESS && functions.cuGraphCreate(&writes, 0) == CUDA_SUCCESS &&
              functions.cuGraphCreate(&nothing, 0) == CUDA_SUCCESS &&
              functions.cuGraphAddMemsetNode(&node, writes, nullptr, 0, &set, context) == CUDA_SUCCESS &&
              functions.cuGraphInstantiateWithFlags(&writing, writes, 0) == CUDA_SUCCESS &&
              functions.cuGraphInstantiateWithFlags(&empty, nothing, 0) == CUDA_SUCCESS;
  const auto launch_writes = [&](CUgraphExec instead) {
    thread.turn_graph_to = instead;
    const CUresult result = functions.cuGraphLaunch(writing, nullptr);
    thread.turn_graph_to = nullptr;
    unsigned char byte = 2;
    done = done && result == CUDA_SUCCESS && driver_.cuCtxSynchronize() == CUDA_SUCCESS &&
           functions.cuMemcpyDtoH(&byte, set.dst, 1) == CUDA_SUCCESS;
    return byte;
  };
  const bool turned = done && launch_writes(empty) == 0 && launch_writes(nullptr) == 1;  // and it does write
  if (empty != nullptr) (void)functions.cuGraphExecDestroy(empty);
  if (writing != nullptr) (void)functions.cuGraphExecDestroy(writing);
  if (nothing != nullptr) (void)functions.cuGraphDestroy(nothing);
  if (writes != nullptr) (void)functions.cuGraphDestroy(writes);
  if (set.dst != 0) (void)driver_.cuMemFree(set.dst);
  return done && turned;
}

CUgraphExec GraphLaunches::empty_in(CUcontext context) {
  CUgraphExec& executable = empty_[context];
  if (executable != nullptr) return executable;
  const cupti::GraphFunctions& functions = *cupti::GraphFunctions::open();
  CUgraph graph = nullptr;
  if (functions.cuGraphCreate(&graph, 0) != CUDA_SUCCESS) return nullptr;
  if (functions.cuGraphInstantiateWithFlags(&executable, graph, 0) != CUDA_SUCCESS) executable = nullptr;
  (void)functions.cuGraphDestroy(graph);
  return executable;
}

void GraphLaunches::note_unusable(Recorder& recorder) {
  const std::lock_guard lock(mutex_);
  for (const auto& [executable, known] : known_) count_unusable(known);
  std::string reasons;
  for (const auto& [reason, graphs] : unusable_) {
    reasons += (reasons.empty() ? "" : "; ") + std::to_string(graphs) + (graphs == 1 ? " graph: " : " graphs: ") + reason;
  }
  if (works_ && !*works_) reasons = kArgumentsKept;
  if (reasons.empty()) return;
  recorder.note(capture::Severity::info, "kernels of some CUDA graphs were not measured one by one", reasons,
                "--replay-mode sample has counters of kernels inside of graphs.");
}

}  // namespace dlkprof::inject
