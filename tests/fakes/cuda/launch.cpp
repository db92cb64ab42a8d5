// The entries that launch kernels, in all the forms that programs use.
#include <atomic>
#include <string_view>

#include "cuda/state.h"

namespace fakes {

namespace {
std::atomic<std::uint32_t> g_last_correlation{0};
}

std::uint32_t next_correlation() { return ++g_last_correlation; }
void number_calls_anew() { g_last_correlation = 0; }

ApiCall::ApiCall(CUpti_CallbackId id, const char* name, const void* params, const char* symbol) : id_(id) {
  data_.callbackSite = CUPTI_API_ENTER;
  data_.functionName = name;
  data_.functionParams = params;
  data_.symbolName = symbol;
  data_.context = current_context();
  data_.contextUid = data_.context != nullptr ? data_.context->id : 0;
  data_.correlationData = &correlation_data_;
  data_.correlationId = next_correlation();
  if (const auto* told = hooks()) told->api(id_, data_);
}

ApiCall::~ApiCall() {
  data_.callbackSite = CUPTI_API_EXIT;
  data_.functionReturnValue = &result_;
  if (const auto* told = hooks()) told->api(id_, data_);
}

const Kernel* kernel_of(CUfunction handle) {
  if (handle == nullptr) return nullptr;
  if (handle->kind == HandleKind::kernel) handle = reinterpret_cast<CUkernel>(handle)->function;
  return handle->kernel;
}

std::vector<std::uint8_t> pack(const Kernel& kernel, void** parameters) {
  std::vector<std::uint8_t> packed;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto* bytes = static_cast<const std::uint8_t*>(parameters[i]);
    packed.insert(packed.end(), bytes, bytes + kernel.parameters[i]);
  }
  return packed;
}

namespace {

const char* symbol_of(CUfunction handle) {
  const auto* kernel = kernel_of(handle);
  return kernel != nullptr ? kernel->name : nullptr;
}

constexpr int kMostThreads = 1024;  // of a block, on all GPUs so far
int threads_of(const LaunchShape& shape) { return shape.block[0] * shape.block[1] * shape.block[2]; }

CUresult launch(CUfunction function, const LaunchShape& shape, void** parameters, std::uint32_t correlation) {
  const auto context = current_context();
  const auto* kernel = kernel_of(function);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (kernel == nullptr || parameters == nullptr || threads_of(shape) > kMostThreads) return CUDA_ERROR_INVALID_VALUE;
  if (function->kind == HandleKind::kernel) load_lazily(reinterpret_cast<CUkernel>(function));
  KernelRun run{context, kernel, pack(*kernel, parameters), correlation, shape, 0, false};
  const auto stream = shape.stream;
  if (stream != nullptr && stream != CU_STREAM_PER_THREAD && stream->recording != nullptr) {
    capture_node(stream->recording, std::move(run), function);
    return CUDA_SUCCESS;
  }
  if (const auto* told = hooks(); told != nullptr && told->launch(run)) return CUDA_SUCCESS;
  enqueue(std::move(run));
  return CUDA_SUCCESS;
}

int cluster_named_by(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) return static_cast<int>(attribute.value.clusterDim.x);
  }
  return 1;
}

LaunchShape shape_of(const CUlaunchConfig& config, bool per_thread_stream) {
  return {{static_cast<int>(config.gridDimX), static_cast<int>(config.gridDimY), static_cast<int>(config.gridDimZ)},
          {static_cast<int>(config.blockDimX), static_cast<int>(config.blockDimY), static_cast<int>(config.blockDimZ)},
          static_cast<int>(config.sharedMemBytes),
          config.hStream,
          per_thread_stream,
          cluster_named_by(config)};
}

}  // namespace
}  // namespace fakes

// cuLaunchKernel and its kin have the same parameters, but for `extra`, which cooperative launches lack.
#define FAKE_PLAIN_LAUNCH(name, ...)                                                                                 \
  extern "C" __attribute__((visibility("default"))) CUresult name(                                                   \
      CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,    \
      unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters __VA_OPT__(, void** extra)) {      \
    FAKE_ENTRY(name);                                                                                                \
    const name##_params params{function, grid_x,  grid_y,       grid_z, block_x,                                     \
                               block_y,  block_z, shared_bytes, stream, parameters __VA_OPT__(, extra)};             \
    fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_##name, #name, &params, fakes::symbol_of(function));                 \
    const CUlaunchConfig config{.gridDimX = grid_x,                                                                  \
                                .gridDimY = grid_y,                                                                  \
                                .gridDimZ = grid_z,                                                                  \
                                .blockDimX = block_x,                                                                \
                                .blockDimY = block_y,                                                                \
                                .blockDimZ = block_z,                                                                \
                                .sharedMemBytes = shared_bytes,                                                      \
                                .hStream = stream};                                                                  \
    const bool per_thread = std::string_view(#name).ends_with("_ptsz");                                              \
    return call.gives(fakes::launch(function, fakes::shape_of(config, per_thread), parameters, call.correlation())); \
  }
FAKE_PLAIN_LAUNCH(cuLaunchKernel, extra)
FAKE_PLAIN_LAUNCH(cuLaunchKernel_ptsz, extra)
FAKE_PLAIN_LAUNCH(cuLaunchCooperativeKernel)
FAKE_PLAIN_LAUNCH(cuLaunchCooperativeKernel_ptsz)

#define FAKE_EX_LAUNCH(name)                                                                                          \
  extern "C" __attribute__((visibility("default"))) CUresult name(const CUlaunchConfig* config, CUfunction function,  \
                                                                  void** parameters, void** extra) {                  \
    FAKE_ENTRY(name);                                                                                                 \
    const name##_params params{config, function, parameters, extra};                                                  \
    fakes::ApiCall call(CUPTI_DRIVER_TRACE_CBID_##name, #name, &params, fakes::symbol_of(function));                  \
    if (config == nullptr) return call.gives(CUDA_ERROR_INVALID_VALUE);                                               \
    const bool per_thread = std::string_view(#name).ends_with("_ptsz");                                               \
    return call.gives(fakes::launch(function, fakes::shape_of(*config, per_thread), parameters, call.correlation())); \
  }
FAKE_EX_LAUNCH(cuLaunchKernelEx)
FAKE_EX_LAUNCH(cuLaunchKernelEx_ptsz)
