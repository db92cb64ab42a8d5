#include "inject/session/driver_calls.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "inject/session/launch_call.h"
#include "inject/timeline/graph_log.h"

namespace dlkprof::inject {
namespace {

using capture::Collect;

constexpr CUpti_CallbackId kGraphLaunches[] = {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
constexpr CUpti_CallbackId kCaptureBegins[] = {
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz};
constexpr CUpti_CallbackId kCaptureEnds[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                                             CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};
constexpr CUpti_CallbackId kProfilerRange[] = {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop};

template <std::size_t N>
bool is_one_of(CUpti_CallbackId id, const CUpti_CallbackId (&ids)[N]) {
  return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
}

// cuGraphExecKernelNodeSetParams and its kin begin with the executable graph, cuGraphInstantiate... with where it is put.
DriverCalls::OfGraph graph_role_of(std::string_view call) {
  using enum DriverCalls::OfGraph;
  if (call.starts_with("cuGraphInstantiate")) return makes;
  if (call.starts_with("cuGraphExecDestroy")) return destroys;
  const bool sets = call.starts_with("cuGraphExec") && call.find("Set") != std::string_view::npos;
  return sets || call.starts_with("cuGraphExecUpdate") || call.starts_with("cuGraphNodeSetEnabled") ? updates : nothing;
}

DriverCalls::OfEvent event_role_of(std::string_view call) {
  using enum DriverCalls::OfEvent;
  return call.starts_with("cuEventCreate") ? creates : call.starts_with("cuEventRecord") ? records : nothing;
}

}  // namespace

bool DriverCalls::launches_graph(CUpti_CallbackId id) noexcept { return is_one_of(id, kGraphLaunches); }
bool DriverCalls::begins_capture(CUpti_CallbackId id) noexcept { return is_one_of(id, kCaptureBegins); }
bool DriverCalls::ends_capture(CUpti_CallbackId id) noexcept { return is_one_of(id, kCaptureEnds); }
bool DriverCalls::opens_or_closes_range(CUpti_CallbackId id) noexcept { return is_one_of(id, kProfilerRange); }

DriverCalls::DriverCalls(const cupti::Library& library, const Wanted& wanted)
    : library_(library), wanted_(wanted), roles_(CUPTI_DRIVER_TRACE_CBID_SIZE) {
  for (CUpti_CallbackId id = 1; id < roles_.size(); ++id) {
    const char* name = nullptr;
    const CUptiResult result = library_.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
    if (result == CUPTI_ERROR_INVALID_PARAMETER) continue;  // this CUPTI is older than the headers, and has no such call
    cupti::check(library_, result, "cuptiGetCallbackName");
    if (name != nullptr) roles_[id] = role_of(name, wanted_);
  }
}

// By name, as there are some two hundred with their versions: what changes memory (copies and sets, which are on the timeline
// too, and single words), what takes and gives it back, and waits.
DriverCalls::Role DriverCalls::role_of(const char* name, const Wanted& wanted) {
  const std::string_view call(name);
  const auto starts_with = [call](std::initializer_list<const char*> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [call](const char* prefix) { return call.starts_with(prefix); });
  };
  const bool moves = starts_with({"cuMemcpy", "cuMemset", "cuMemAlloc", "cuMemFree", "cuMemMap", "cuMemUnmap", "cuMemPrefetch"});
  const bool values = starts_with({"cuStreamWaitValue", "cuStreamWriteValue", "cuStreamBatchMemOp"});
  const bool writes = starts_with({"cuStreamWriteValue", "cuStreamBatchMemOp", "cuMemBatchDecompress"});
  const bool waits = starts_with({"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize"});
  const bool graph = starts_with({"cuGraphLaunch"});
  const bool capture = starts_with({"cuStreamBeginCapture"});
  const bool hosts = starts_with({"cuLaunchHostFunc", "cuStreamAddCallback"});
  const bool replays = wanted.collect == Collect::kernel || wanted.collect == Collect::automatic;
  const bool windows = wanted.collect == Collect::iteration || wanted.collect == Collect::automatic;
  const bool alone = replays || windows || wanted.collect == Collect::source;  // some launches are made
  Role role;
  role.gated = ((moves || writes) && replays) || ((graph || capture || hosts) && alone);
  role.timed = (moves || waits || graph) && wanted.timeline;
  role.only_timed = role.timed && !role.gated && !graph;
  role.of_values = values && replays;
  if (windows) role.of_graph = graph_role_of(call);
  if (windows) role.of_event = event_role_of(call);
  return role;
}

void DriverCalls::watch(CUpti_SubscriberHandle subscriber, bool on) const {
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    DLKPROF_CUPTI(library_, cuptiEnableCallback, on ? 1U : 0U, subscriber, domain, id);
  };
  for (const auto id : kLaunchEntries) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kGraphLaunches) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (CUpti_CallbackId id = 0; id < roles_.size(); ++id) {
    if (!roles_[id].is_none()) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
  for (const auto id : kCaptureBegins) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kCaptureEnds) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const auto id : kProfilerRange) enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
  if (wanted_.loaded_modules) enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  for (const auto id : kGraphResources) {
    if (wanted_.timeline) enable(CUPTI_CB_DOMAIN_RESOURCE, id);
  }
}

}  // namespace dlkprof::inject
