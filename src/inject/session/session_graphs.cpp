// The session's callbacks about CUDA graphs; and launches of graphs that are made node by node (graph_launches.h).
#include <chrono>
#include <optional>
#include <utility>

#include "base/collective_kernel.h"
#include "cupti/activity.h"
#include "inject/graphs/graph_launches.h"
#include "inject/graphs/graph_updates.h"
#include "inject/session/launch_call.h"
#include "inject/session/session.h"
#include "inject/timeline/ranges.h"

namespace dlkprof::inject {
namespace {

constexpr std::chrono::seconds kLongestGraph(3);  // that the launches of its nodes are waited for
constexpr int kMostIdle = 8;                      // launches of a graph node by node, in a row, in which nothing is measured

CUstream read_capture_end(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const CUstream stream = static_cast<const cuStreamEndCapture_params*>(data.functionParams)->hStream;  // both are alike
  const bool per_thread = id == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz && stream == nullptr;
  return per_thread ? CU_STREAM_PER_THREAD : stream;
}

// Of a call that makes an executable graph: whether kernels may launch it.
bool is_for_gpu(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* const params = data.functionParams;
  unsigned long long flags = 0;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags) {
    flags = static_cast<const cuGraphInstantiateWithFlags_params*>(params)->flags;
  } else if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams ||
             id == CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz) {
    const auto& both = *static_cast<const cuGraphInstantiateWithParams_params*>(params);  // which are alike
    if (both.instantiateParams != nullptr) flags = both.instantiateParams->flags;
  }
  return (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
}

}  // namespace

void Session::turn_graph(CUgraphExec to, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) noexcept {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || !DriverCalls::launches_graph(id)) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER) read_graph_launch(id, call).executable = to;
}

void Session::on_graph_call(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  const bool launched = DriverCalls::launches_graph(id), begins = DriverCalls::begins_capture(id);
  const bool ends = DriverCalls::ends_capture(id);
  if (!launched && !begins && !ends) return;
  if (entry && active_ && launched) on_graph_launch(data.context);
  graphs_.saw_graph();
  if (begins && entry) thread.capture_range = current_range();
  if (begins && !entry && !is_refused(data)) graphs_.capture_begins();
  if (begins && !entry && is_refused(data)) thread.capture_range = kNotCapturing;
  if (!ends) return;
  const CUstream stream = read_capture_end(id, data);
  if (entry) {
    thread.ends_capture = graphs_.records(stream);
  } else if (std::exchange(thread.ends_capture, false) && !graphs_.records(stream)) {
    graphs_.capture_ends();
  }
  thread.capture_range = kNotCapturing;
}

// A program may launch nothing but graphs that it made node by node: the capture opens here then, and sampling begins.
void Session::on_graph_launch(CUcontext context) {
  counter_.ledger().graph_launched();
  if (context == nullptr) return;
  const capture::DeviceRecord& device = counter_.device_of(context);
  if (pc_sampling_ && !graphs_.capturing()) sample_pcs(context);
  // Who takes turns hears of graphs by by_nodes(), and may hold the collector for long.
  if (collector_->takes_turns() || !counter_.selector().takes_device(device.index) || !counter_.selecting()) return;
  collecting([&](Collector& collector) { collector.graph_launched(device); });
}

// Of which graph an executable one is made, and what is set of it later.
void Session::on_executable_graph(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  using enum DriverCalls::OfGraph;
  const auto what = calls_.of_graph(id);
  const bool entry = data.callbackSite == CUPTI_API_ENTER;
  if (what == nothing || entry != (what == destroys)) return;
  if (what == makes) {
    if (is_refused(data)) return;
    graphs_.saw_graph();
    if (is_for_gpu(id, data)) graphs_.launches().made_for_gpu();
    const auto& call = *static_cast<const cuGraphInstantiateWithFlags_params*>(data.functionParams);  // all begin like this
    if (wants_graphs(data.context)) graphs_.launches().made(*call.phGraphExec, call.hGraph, data.context);
    return;
  }
  const CUgraphExec executable = *static_cast<const CUgraphExec*>(data.functionParams);  // the first argument
  if (what == destroys) return graphs_.launches().destroyed(executable);
  const auto follow = [&](cupti::GraphNodes& nodes) { return follow_update(id, data, nodes); };
  const auto changed = graphs_.launches().updated(executable, follow);
  if (changed == nullptr) {
    const CUgraph graph = graph_set_to(id, data);
    const bool reads = graphs_.launches().is_to_be_read_again(executable, graph) && wants_graphs(data.context);
    if (reads) graphs_.launches().read_again(executable, graph, data.context);
    return;
  }
  collecting([&](Collector&) {
    changed->kernels.clear();  // which are found out anew
    changed->collective = changed->nodes.holds(is_collective_kernel);
  });
}

// Whether launches of graphs may be made node by node.
bool Session::wants_graphs(CUcontext context) {
  if (!active_) return false;
  return collecting([&](Collector& collector) { return collector.by_nodes(context, {}) == Collector::ByNodes::yes; });
}

// What selects launches by their number would see others, so graphs are launched whole then.
bool Session::wants_nodes(const GraphLaunchCall& call, const GraphLaunches::Graph& graph, CUcontext context) {
  using enum Collector::ByNodes;
  if (pc_sampling_ || !counter_.selector().goes_by_name_and_device() || !counter_.selecting()) return false;
  const bool gives_up = graph.idle >= kMostIdle;
  const auto [how, is_final] = collecting([&](Collector& collector) {
    const Collector::GraphKernels kernels{graph.kernels, graph.collective};
    const bool is_known = gives_up || graph.collective || !graph.kernels.empty();
    return std::pair(gives_up ? no : collector.by_nodes(context, kernels), is_known);
  });
  if (how == no && is_final) graphs_.launches().done(call.executable, gives_up);
  return how == yes && !graphs_.is_captured(call.stream);
}

// At the entry of a graph launch. All that comes after the first node is launched must turn the call, or the graph would run
// twice.
void Session::launch_by_nodes(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const GraphLaunchCall call = read_graph_launch(id, data);
  const auto graph = graphs_.launches().find(call.executable);
  if (graph == nullptr || !wants_nodes(call, *graph, data.context)) return;
  services_.mark_overhead();
  if (!come_alone(thread, data.context, call.stream, false)) return;
  std::optional<cupti::ActivityPause> pause;
  NodeLaunches nodes{.graph_launch = data.correlationId};
  if (active_ && prepare_nodes(thread, graph->nodes, call.stream, data.context, pause)) {
    call.executable = launch_nodes(thread, graph->nodes, call, data.context, nodes);
  }
  collecting([&](Collector&) {
    graph->idle = nodes.failed ? kMostIdle : nodes.measured > 0 ? 0 : graph->idle + 1;
    if (graph->kernels.empty()) graph->kernels = std::move(nodes.kernels);
  });
  {
    const OwnCalls own(thread);
    pause.reset();
  }
  thread.leave(gate_);
}

// Alone, where a capture may have begun meanwhile. What has been launched before is to be done: nodes may depend on work of other
// streams, as launches of one graph wait for one another. Records of activity pause, so that all kernels of the launch are known
// alike: as launched, by the node, without times.
bool Session::prepare_nodes(ThreadState& thread, const cupti::GraphNodes& nodes, CUstream stream, CUcontext context,
                            std::optional<cupti::ActivityPause>& pause) {
  const OwnCalls own(thread);
  if (graphs_.is_captured(stream) || services_->driver.cuCtxSynchronize() != CUDA_SUCCESS) return false;
  if (options_.timeline) pause.emplace();
  return graphs_.launches().works(thread, nodes.nothing()) && nodes.are_accepted(context, services_.has_several_gpus());
}

// What the call is to launch then. The session hears of each node's launch. Ends once all are done, so that records of activity
// may go on, or after some seconds, as they may wait for what the program does next; what kernels have done wrong the program
// hears from its own calls. Where a node is refused after others were launched, the call gets no graph at all, and fails: better
// than a wrong result.
CUgraphExec Session::launch_nodes(ThreadState& thread, const cupti::GraphNodes& nodes, const GraphLaunchCall& call,
                                  CUcontext context, NodeLaunches& launches) {
  const OpenCall graph_call = std::exchange(thread.call, {});
  thread.nodes = &launches;
  CUresult result = CUDA_SUCCESS;
  std::size_t launched = 0;
  for (; launched < nodes.size() && result == CUDA_SUCCESS; ++launched) {
    launches.node = 0;
    if (library_.cuptiGetGraphNodeId != nullptr) (void)library_.cuptiGetGraphNodeId(nodes.node(launched), &launches.node);
    result = nodes.launch(launched, call.stream);
  }
  const OwnCalls own(thread);
  const bool refused = result != CUDA_SUCCESS, done = services_.is_done(context, kLongestGraph);
  const bool context_lives = !done || services_->driver.cuCtxSynchronize() == CUDA_SUCCESS;
  thread.nodes = nullptr;
  thread.call = graph_call;
  launches.failed = refused || !done;
  if (!refused || !context_lives) return nodes.nothing();
  return launched > 1 ? nullptr : call.executable;
}

}  // namespace dlkprof::inject
