// Contexts, the stack of current ones, and the queue of launches behind each.
#include <array>
#include <atomic>
#include <map>

#include "cuda/state.h"

namespace fakes {
namespace {

// As with a real GPU's queue, a launch that finds it full waits.
constexpr std::size_t kQueueLength = 1024;

// Of plain values, as it outlives what a thread destroys at its end: exit handlers still call.
class Stack {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] CUcontext back() const { return contexts_[size_ - 1]; }
  void push_back(CUcontext context) { contexts_.at(size_++) = context; }
  void pop_back() { --size_; }

 private:
  std::array<CUcontext, 64> contexts_{};
  std::size_t size_ = 0;
};
thread_local constinit Stack g_stack;
std::atomic<std::uint32_t> g_contexts{0};
std::mutex g_primary_mutex;
std::map<CUdevice, CUcontext> g_primary;

// Never freed: a handle that is used too late is found out, not followed into the void.
CUcontext new_context(CUdevice device) {
  auto* context = new CUctx_st;
  context->device = device;
  context->id = ++g_contexts;
  return context;
}

}  // namespace

CUcontext current_context() { return g_stack.empty() ? nullptr : g_stack.back(); }

void finish(CUcontext context) {
  const std::lock_guard lock(context->mutex);
  while (!context->queue.empty()) {
    const KernelRun run = std::move(context->queue.front());
    context->queue.pop_front();
    run.kernel->run(run.arguments.data());
    if (const auto* told = hooks()) told->executed(run);
  }
}

bool idle(CUcontext context) {
  const std::lock_guard lock(context->mutex);
  return context->queue.empty();
}

void enqueue(KernelRun run) {
  const auto context = run.context;
  const std::lock_guard lock(context->mutex);
  if (context->queue.size() >= kQueueLength) finish(context);
  if (const auto* told = hooks()) told->queued(run);
  context->queue.push_back(std::move(run));
}

}  // namespace fakes

extern "C" {

// The form that every toolkit's header can declare (later ones call another cuCtxCreate).
__attribute__((visibility("default"))) CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  FAKE_ENTRY(cuCtxCreate_v2);
  *context = fakes::new_context(device);
  fakes::g_stack.push_back(*context);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_ENTRY(cuDevicePrimaryCtxRetain);
  const std::lock_guard lock(fakes::g_primary_mutex);
  auto& primary = fakes::g_primary[device];
  if (primary == nullptr) primary = fakes::new_context(device);
  *context = primary;
  return CUDA_SUCCESS;
}

// The program's own references are never given back.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  FAKE_ENTRY(cuDevicePrimaryCtxRelease_v2);
  const std::lock_guard lock(fakes::g_primary_mutex);
  return fakes::g_primary.contains(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  FAKE_ENTRY(cuDevicePrimaryCtxGetState);
  const std::lock_guard lock(fakes::g_primary_mutex);
  *flags = 0;
  *active = fakes::g_primary.contains(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext context) {
  FAKE_ENTRY(cuCtxDestroy_v2);
  if (!context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  if (const auto* told = fakes::hooks()) {
    CUpti_ResourceData data{.context = context};
    told->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, data);
  }
  fakes::finish(context);
  context->alive = false;
  if (fakes::current_context() == context) fakes::g_stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_ENTRY(cuCtxSetCurrent);
  if (!fakes::g_stack.empty()) fakes::g_stack.pop_back();
  if (context != nullptr) fakes::g_stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  FAKE_ENTRY(cuCtxGetCurrent);
  *context = fakes::current_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  FAKE_ENTRY(cuCtxPushCurrent_v2);
  if (context == nullptr || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  fakes::g_stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  FAKE_ENTRY(cuCtxPopCurrent_v2);
  if (fakes::g_stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = fakes::g_stack.back();
  fakes::g_stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_ENTRY(cuCtxGetDevice);
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  FAKE_ENTRY(cuCtxSynchronize);
  if (fakes::spoils_recording()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const auto context = fakes::current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", nullptr);
  fakes::finish(context);
  fakes::wait_for_host_functions(context);
  return call.gives(CUDA_SUCCESS);
}

}  // extern "C"
