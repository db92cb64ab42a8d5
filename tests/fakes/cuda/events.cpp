// Events, which tell when a whole context is done, and host functions: each runs on a thread of its own, as one of the driver's
// does.
#include <cstdint>
#include <thread>

#include "cuda/state.h"

struct CUevent_st {
  CUcontext context = nullptr;
  std::uint64_t hosts_launched = 0;  // before
};

namespace fakes {

void wait_for_host_functions(CUcontext context) {
  std::unique_lock lock(context->hosts_mutex);
  context->hosts_done.wait(lock, [context] { return context->hosts.empty(); });
}

namespace {

bool are_host_functions_done(CUcontext context, std::uint64_t launched) {
  const std::lock_guard lock(context->hosts_mutex);
  return context->hosts.empty() || *context->hosts.begin() > launched;
}

std::uint64_t begin_host_function(CUcontext context) {
  const std::lock_guard lock(context->hosts_mutex);
  return *context->hosts.insert(++context->hosts_launched).first;
}

void run_host_function(CUcontext context, std::uint64_t number, CUhostFn function, void* data) {
  function(data);
  const std::lock_guard lock(context->hosts_mutex);
  context->hosts.erase(number);
  context->hosts_done.notify_all();
}

}  // namespace
}  // namespace fakes

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  FAKE_ENTRY(cuEventCreate);
  const cuEventCreate_params params{event, flags};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuEventCreate, "cuEventCreate", &params);
  *event = new CUevent_st;
  return call.gives(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  FAKE_ENTRY(cuEventRecord);
  const cuEventRecord_params params{event, stream};
  return fakes::ApiCall(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, "cuEventRecord", &params).gives(CUDA_SUCCESS);
}

CUresult cuEventDestroy(CUevent event) {
  FAKE_ENTRY(cuEventDestroy_v2);
  delete event;
  return CUDA_SUCCESS;
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  FAKE_ENTRY(cuCtxRecordEvent);
  if (fakes::spoils_recording()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  event->context = context;
  const std::lock_guard lock(context->hosts_mutex);
  event->hosts_launched = context->hosts_launched;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  FAKE_ENTRY(cuEventQuery);
  if (fakes::spoils_recording()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (event->context == nullptr) return CUDA_SUCCESS;
  fakes::finish(event->context);
  return fakes::are_host_functions_done(event->context, event->hosts_launched) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  FAKE_ENTRY(cuLaunchHostFunc);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const cuLaunchHostFunc_params params{stream, function, data};
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, "cuLaunchHostFunc", &params);
  std::thread(fakes::run_host_function, context, fakes::begin_host_function(context), function, data).detach();
  return call.gives(CUDA_SUCCESS);
}

}  // extern "C"
