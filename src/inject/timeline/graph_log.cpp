#include "inject/timeline/graph_log.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <span>
#include <string>

#include "capture/events.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject {
namespace {

// Of the others, such as events and waits, no GPU work is ever told.
bool works(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
}

constexpr const char* kFailed = "kernels of later CUDA graphs are counted for the op that launches the graph";

}  // namespace

bool tells_of_graph(CUpti_CallbackId id) noexcept {
  return std::find(std::begin(kGraphResources), std::end(kGraphResources), id) != std::end(kGraphResources);
}

// One callback.
struct GraphLog::Told {
  const cupti::Functions& cupti;
  CUpti_CallbackId id;
  const CUpti_GraphData& data;
  std::uint64_t capture_range;

  [[nodiscard]] bool capturing() const { return capture_range != kNotCapturing; }
  // 0 where CUPTI does not say.
  [[nodiscard]] std::uint64_t number_of(CUgraph graph) const {
    std::uint32_t number = 0;
    if (graph == nullptr || cupti.cuptiGetGraphId == nullptr) return 0;
    return cupti.cuptiGetGraphId(graph, &number) == CUPTI_SUCCESS ? number : 0;
  }
  [[nodiscard]] std::uint64_t number_of(CUgraphExec executable) const {
    std::uint32_t number = 0;
    if (executable == nullptr || cupti.cuptiGetGraphExecId == nullptr) return 0;
    return cupti.cuptiGetGraphExecId(executable, &number) == CUPTI_SUCCESS ? number : 0;
  }
  [[nodiscard]] std::uint64_t number_of(CUgraphNode node) const {
    std::uint64_t number = 0;
    if (node == nullptr || cupti.cuptiGetGraphNodeId == nullptr) return 0;
    return cupti.cuptiGetGraphNodeId(node, &number) == CUPTI_SUCCESS ? number : 0;
  }
};

void GraphLog::on_resource(const cupti::Functions& cupti, CUpti_CallbackId id, const CUpti_GraphData& data,
                           std::uint64_t capture_range) noexcept {
  try {
    const Told told{cupti, id, data, capture_range};
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
      on_node(told);
    } else if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED) {
      on_executable(told);
    } else {
      on_graph(told);
    }
  } catch (const std::exception& error) {
    failed_ = true;
    forget();
    recorder_.note(kFailed, error);
  }
}

void GraphLog::on_graph(const Told& told) {
  const std::uint64_t graph = told.number_of(told.data.graph);
  if (graph == 0) return;
  if (told.id == CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING) {
    capture_ranges_.erase(graph);
  } else if (told.id == CUPTI_CBID_RESOURCE_GRAPH_CREATED) {
    capture_range_of(graph, told.capturing() ? told.capture_range : current_range());
  } else if (const std::uint64_t original = told.number_of(told.data.originalGraph); original != 0 && original != graph) {
    add({.kind = capture::GraphEventKind::graph_cloned, .id = graph, .original = original});
  }
}

void GraphLog::on_node(const Told& told) {
  const std::uint64_t node = told.number_of(told.data.node);
  if (node == 0) return;
  if (told.id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
    const std::uint64_t original = told.number_of(told.data.originalNode);
    if (original == 0 || original == node) return;
    add({.kind = capture::GraphEventKind::node_cloned, .id = node, .original = original});
  } else if (works(told.data.nodeType)) {
    const std::uint64_t graph = told.number_of(told.data.graph);
    const std::uint64_t outer = capture_range_of(graph, told.capturing() ? told.capture_range : 0);
    add({.kind = capture::GraphEventKind::node_made,
         .id = node,
         .graph = graph,
         .range = current_range(),
         .capture_range = outer});
  }
}

void GraphLog::on_executable(const Told& told) {
  const std::uint64_t graph = told.number_of(told.data.graph);
  const std::uint64_t executable = told.number_of(told.data.graphExec);
  if (graph == 0 || executable == 0) return;
  add({.kind = capture::GraphEventKind::executable_made, .id = executable, .original = graph});
}

// The first that is said of a graph stays.
std::uint64_t GraphLog::capture_range_of(std::uint64_t graph, std::uint64_t otherwise) {
  if (capture_ranges_.size() >= kMostGraphs) capture_ranges_.clear();  // whoever never destroys any: shorter paths are lost
  return capture_ranges_.try_emplace(graph, otherwise).first->second;
}

void GraphLog::add(const capture::GraphEvent& event) {
  if (held_ >= kMostHeld) {
    ++dropped_;
    return;
  }
  ++held_;
  auto& thread = unfinished_[std::this_thread::get_id()];
  thread.push_back(event);
  using enum capture::GraphEventKind;
  if (event.kind == executable_made || event.kind == graph_cloned) close(thread);
  if (events_.size() >= capture::kEventsInABatch && recorder_.usable()) append();
}

void GraphLog::close(std::vector<capture::GraphEvent>& thread) {
  events_.insert(events_.end(), thread.begin(), thread.end());
  thread.clear();
}

// The lock is held.
void GraphLog::append() {
  for (std::span<const capture::GraphEvent> left(events_); !left.empty();) {
    const auto some = left.first(std::min(left.size(), capture::kEventsInABatch));
    recorder_.append(capture::pack_events(some));
    left = left.subspan(some.size());
  }
  held_ -= events_.size();
  events_.clear();
  if (dropped_ == 0) return;
  recorder_.note(capture::Severity::warning, "nodes of CUDA graphs were left out, as there were too many before the first launch",
                 std::to_string(dropped_) + " events", "Their kernels are counted for the op that launches the graph.");
  dropped_ = 0;
}

void GraphLog::flush() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (failed_ || !recorder_.usable()) return;
    for (auto& [id, thread] : unfinished_) close(thread);
    unfinished_.clear();
    append();
  } catch (const std::exception& error) {
    failed_ = true;
    recorder_.note(kFailed, error);
  }
}

void GraphLog::forget() noexcept {
  unfinished_.clear();
  events_.clear();
  held_ = 0;
  dropped_ = 0;
}

}  // namespace dlkprof::inject
