#include "inject/graphs/graph_launches.h"

#include <algorithm>
#include <utility>

#include "base/collective_kernel.h"

namespace dlkprof::inject {
namespace {

constexpr const char* kTooMany = "there are too many";
constexpr const char* kByKernels = "kernels of the program launch graphs";
constexpr const char* kArgumentKept = "this driver does not let a launch be replaced";
constexpr const char* kNotTried = "whether a launch can be replaced could not be tried";

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

void GraphLaunches::made(CUgraphExec executable, CUgraph graph, CUcontext context) {
  if (cupti::GraphFunctions::open() == nullptr) return;
  destroyed(executable);  // of what another of its address was, nobody may have told
  {
    const std::lock_guard lock(mutex_);
    Known& known = known_[executable];
    if (nodes_ > kMostNodes) known.unusable = kTooMany;
    if (launched_by_kernels_) known.unusable = kByKernels;
    if (!known.unusable.empty()) return;
  }
  const auto made = read(graph);
  const std::lock_guard lock(mutex_);
  keep(known_[executable], made, context);
}

std::shared_ptr<GraphLaunches::Graph> GraphLaunches::read(CUgraph graph) const {
  auto read = std::make_shared<Graph>(driver_, *cupti::GraphFunctions::open(), graph);
  const OwnCalls own;
  read->nodes.make_nothing();
  read->collective = read->nodes.holds(is_collective_kernel);
  return read;
}

void GraphLaunches::keep(Known& known, const std::shared_ptr<Graph>& graph, CUcontext context) {
  known.unusable = graph->nodes.unusable();
  if (!known.unusable.empty()) return;
  known.nodes = graph->nodes.size();
  nodes_ += known.nodes;
  known.graph = graph;
  known.context = context;
}

// Which nothing more is wanted of, but may be of what it is set to.
GraphLaunches::Known* GraphLaunches::find_done(CUgraphExec executable) {
  const auto found = known_.find(executable);
  if (found == known_.end() || found->second.graph != nullptr || !found->second.unusable.empty()) return nullptr;
  return found->second.shapes_done.empty() ? nullptr : &found->second;
}

bool GraphLaunches::is_to_be_read_again(CUgraphExec executable, CUgraph graph) {
  const std::lock_guard lock(mutex_);
  Known* const known = find_done(executable);
  if (known != nullptr && graph == nullptr) known->shapes_done.clear();
  return known != nullptr && graph != nullptr && nodes_ <= kMostNodes && Clock::now() >= next_reading_;
}

// A program may update a graph before each launch, and mostly to the same kernels: reading takes a fiftieth of the time at most.
void GraphLaunches::read_again(CUgraphExec executable, CUgraph graph, CUcontext context) {
  constexpr int kShare = 50;
  const auto began = Clock::now();
  const auto now_read = read(graph);
  const std::lock_guard lock(mutex_);
  const auto ended = Clock::now();
  next_reading_ = ended + kShare * (ended - began);
  Known* const known = find_done(executable);
  if (known == nullptr) return;
  const auto& done = known->shapes_done;
  if (std::find(done.begin(), done.end(), now_read->nodes.shape()) == done.end()) keep(*known, now_read, context);
}

void GraphLaunches::made_for_gpu() {
  const std::lock_guard lock(mutex_);
  launched_by_kernels_ = true;
}

// To be let go without the lock: it takes its clone along.
std::shared_ptr<GraphLaunches::Graph> GraphLaunches::take(Known& known) {
  nodes_ -= std::exchange(known.nodes, 0);
  return std::exchange(known.graph, nullptr);
}

std::shared_ptr<GraphLaunches::Graph> GraphLaunches::updated(CUgraphExec executable,
                                                             const std::function<bool(cupti::GraphNodes&)>& follow) {
  std::shared_ptr<Graph> graph;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(executable); known != known_.end()) graph = known->second.graph;
  }
  if (graph == nullptr) return nullptr;
  const bool is_other = follow(graph->nodes);
  if (graph->nodes.unusable().empty()) return is_other ? graph : nullptr;
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end()) return nullptr;
  known->second.unusable = graph->nodes.unusable();
  (void)take(known->second);  // `graph` is let go after the lock
  return nullptr;
}

void GraphLaunches::destroyed(CUgraphExec executable) {
  std::shared_ptr<Graph> gone;
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end()) return;
  count_unusable(known->second);
  gone = take(known->second);
  known_.erase(known);
}

void GraphLaunches::done(CUgraphExec executable, bool for_good) {
  std::shared_ptr<Graph> gone;
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end()) return;
  gone = take(known->second);
  if (for_good) {
    known->second.shapes_done.clear();
  } else if (gone != nullptr) {
    known->second.shapes_done.push_back(gone->nodes.shape());
  }
}

void GraphLaunches::clear() {
  std::vector<std::shared_ptr<Graph>> gone;
  const std::lock_guard lock(mutex_);
  for (auto& [executable, known] : known_) gone.push_back(take(known));
}

void GraphLaunches::context_ends(CUcontext context) {
  std::vector<std::shared_ptr<Graph>> gone;
  const std::lock_guard lock(mutex_);
  for (auto& [executable, known] : known_) {
    if (known.context == context) gone.push_back(take(known));
  }
}

void GraphLaunches::count_unusable(const Known& known) {
  if (known.launched && !known.unusable.empty()) ++unusable_[known.unusable];
}

std::shared_ptr<GraphLaunches::Graph> GraphLaunches::find(CUgraphExec executable) {
  const Trial trial = trial_;
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(executable);
  if (known == known_.end()) return nullptr;
  known->second.launched = true;
  if (launched_by_kernels_ && known->second.unusable.empty()) known->second.unusable = kByKernels;
  const bool whole = !known->second.unusable.empty() || trial == Trial::argument_kept || trial == Trial::failed;
  return whole ? nullptr : known->second.graph;
}

bool GraphLaunches::works(ThreadState& thread, CUgraphExec nothing) {
  if (trial_ == Trial::none) trial_ = try_out(thread, nothing);
  return trial_ == Trial::works;
}

// A graph that writes a byte is launched, and turned to one without nodes: the byte must stay what it was. By both entries, as
// programs that are built for streams of each thread use the other.
GraphLaunches::Trial GraphLaunches::try_out(ThreadState& thread, CUgraphExec nothing) const {
  const cupti::GraphFunctions& functions = *cupti::GraphFunctions::open();
  const OwnCalls own(thread);
  CUcontext context = nullptr;
  CUgraph writes = nullptr;
  CUgraphExec writing = nullptr;
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS set{.dst = 0, .pitch = 1, .value = 1, .elementSize = 1, .width = 1, .height = 1};
  bool done = driver_.cuCtxGetCurrent(&context) == CUDA_SUCCESS && driver_.cuMemAlloc(&set.dst, 1) == CUDA_SUCCESS &&
              functions.cuGraphCreate(&writes, 0) == CUDA_SUCCESS &&
              functions.cuGraphAddMemsetNode(&node, writes, nullptr, 0, &set, context) == CUDA_SUCCESS &&
              functions.cuGraphInstantiateWithFlags(&writing, writes, 0) == CUDA_SUCCESS;
  const auto byte_after = [&](decltype(functions.cuGraphLaunch) launch, CUgraphExec instead) {
    unsigned char byte = 2;
    done = done && driver_.cuMemsetD8(set.dst, 0, 1) == CUDA_SUCCESS;
    if (!done) return byte;
    thread.turn_graph_to = instead;
    done = launch(writing, nullptr) == CUDA_SUCCESS;
    thread.turn_graph_to = nullptr;
    done = done && driver_.cuCtxSynchronize() == CUDA_SUCCESS && functions.cuMemcpyDtoH(&byte, set.dst, 1) == CUDA_SUCCESS;
    return byte;
  };
  bool turned = true;
  for (const auto launch : {functions.cuGraphLaunch, functions.cuGraphLaunch_ptsz}) {
    turned = turned && byte_after(launch, nothing) == 0;
    done = done && byte_after(launch, nullptr) == 1;  // it does write
  }
  if (writing != nullptr) (void)functions.cuGraphExecDestroy(writing);
  if (writes != nullptr) (void)functions.cuGraphDestroy(writes);
  if (set.dst != 0) (void)driver_.cuMemFree(set.dst);
  if (!done) return Trial::failed;
  return turned ? Trial::works : Trial::argument_kept;
}

void GraphLaunches::note_unusable(Recorder& recorder) {
  const std::lock_guard lock(mutex_);
  for (const auto& [executable, known] : known_) count_unusable(known);
  std::string reasons;
  for (const auto& [reason, graphs] : unusable_) {
    reasons += (reasons.empty() ? "" : "; ") + std::to_string(graphs) + (graphs == 1 ? " graph: " : " graphs: ") + reason;
  }
  if (trial_ == Trial::argument_kept) reasons = kArgumentKept;
  if (trial_ == Trial::failed) reasons = kNotTried;
  if (reasons.empty()) return;
  recorder.note(capture::Severity::info, "kernels of some CUDA graphs were not measured one by one", reasons,
                "--replay-mode sample has counters of kernels inside of graphs.");
}

}  // namespace dlkprof::inject
