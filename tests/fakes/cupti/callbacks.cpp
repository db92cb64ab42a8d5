// Subscribing, and delivering what the fake driver tells.
#include <set>
#include <utility>

#include "common/journal.h"
#include "cupti/heap_litter.h"
#include "cupti/pc_sampling.h"
#include "cupti/real.h"

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback;
  void* data;
};

namespace fakes {
namespace {

CUpti_Subscriber_st* g_subscriber = nullptr;
std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> g_enabled;

// Called without a lock: what it is told goes to the library under test, on the program's thread.
void deliver(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  CUpti_Subscriber_st subscriber{};
  {
    const std::lock_guard lock(state_mutex());
    if (g_subscriber == nullptr || !g_enabled.contains({domain, id})) return;
    subscriber = *g_subscriber;
  }
  subscriber.callback(subscriber.data, domain, id, data);
}

const DriverHooks kHooks{
    .api = [](CUpti_CallbackId id, CUpti_CallbackData& data) { deliver(CUPTI_CB_DOMAIN_DRIVER_API, id, &data); },
    .resource =
        [](CUpti_CallbackId id, CUpti_ResourceData& data) {
          deliver(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
          if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) check_no_pcs_sampled(data.context);
        },
    .launch = [](const KernelRun& run) { return run_in_session(run) || run_in_range(run); },
    .queued = [](KernelRun& run) { run.recorded = records_kernels(); },
    .executed =
        [](const KernelRun& run) {
          record_activity(run);
          sample_pcs(run);
          count_instructions(run);
        },
    .moved = record_move,
};

}  // namespace

void attach_to_driver() {
  if (driver() != nullptr) driver()->set_hooks(&kHooks);
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  FAKE_CALL(cuptiGetVersion);
  return FAKE_REAL(cuptiGetVersion)(version);
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  FAKE_CALL(cuptiGetResultString);
  return FAKE_REAL(cuptiGetResultString)(result, text);
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* data) {
  FAKE_LASTING_CALL(cuptiSubscribe);
  const std::lock_guard lock(fakes::state_mutex());
  fakes::set_finalized(false);
  if (fakes::g_subscriber != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  *subscriber = fakes::g_subscriber = new CUpti_Subscriber_st{callback, data};
  fakes::attach_to_driver();
  fakes::litter_heap();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  FAKE_GPU_CALL(cuptiUnsubscribe);
  const std::lock_guard lock(fakes::state_mutex());
  if (subscriber == nullptr || subscriber != fakes::g_subscriber) return CUPTI_ERROR_INVALID_PARAMETER;
  fakes::g_subscriber = nullptr;
  fakes::g_enabled.clear();
  return CUPTI_SUCCESS;
}

// The real one comes to life again with the next call; ours is to make none but to subscribe. Who relies on correlations that go
// on from before is wrong: they begin anew.
CUptiResult cuptiFinalize(void) {
  FAKE_GPU_CALL(cuptiFinalize);
  const std::lock_guard lock(fakes::state_mutex());
  delete std::exchange(fakes::g_subscriber, nullptr);
  fakes::g_enabled.clear();
  fakes::trace("finalized");
  fakes::forget_activity();
  fakes::driver()->number_calls_anew();
  fakes::set_finalized(true);
  fakes::leave_holes();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  FAKE_GPU_CALL(cuptiEnableCallback);
  const std::lock_guard lock(fakes::state_mutex());
  if (subscriber == nullptr || subscriber != fakes::g_subscriber) return CUPTI_ERROR_INVALID_PARAMETER;
  if (enable != 0) {
    fakes::g_enabled.emplace(domain, id);
  } else {
    fakes::g_enabled.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  FAKE_GPU_CALL(cuptiGetContextId);
  *id = fakes::driver()->context_id(context);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, std::uint8_t per_thread, std::uint32_t* id) {
  FAKE_GPU_CALL(cuptiGetStreamIdEx);
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = fakes::driver()->stream_id(context, stream, per_thread != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph graph, std::uint32_t* id) {
  FAKE_GPU_CALL(cuptiGetGraphId);
  *id = fakes::driver()->graph_id(graph);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec executable, std::uint32_t* id) {
  FAKE_GPU_CALL(cuptiGetGraphExecId);
  *id = fakes::driver()->executable_id(executable);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  FAKE_GPU_CALL(cuptiGetGraphNodeId);
  *id = fakes::driver()->node_id(node);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  FAKE_CALL(cuptiDeviceGetChipName);
  params->pChipName = "GH100";
  return CUPTI_SUCCESS;
}

}  // extern "C"
