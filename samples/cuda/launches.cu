// Many small launches through each of the doors that CUDA has for them. Every door has its own kernel, so that a
// profile shows which ones were measured and which were left alone.
#include <cooperative_groups.h>

#include <thread>

#include "sample.h"

// The per-thread-default-stream build of cudaLaunchKernel, which the headers declare only for whole programs built so.
extern "C" cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                             std::size_t shared_bytes, cudaStream_t stream);

namespace {
constexpr unsigned kThreads = 128;
constexpr unsigned kBlocks = 32;
constexpr unsigned kValues = kThreads * kBlocks;

using Values = std::vector<std::uint32_t>;

__host__ __device__ std::uint32_t next_value(std::uint32_t value, unsigned step) { return value * 5 + step; }

__device__ void advance(std::uint32_t* data, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = next_value(data[i], step);
}

Values first_values() {
  Values values(kValues);
  for (unsigned i = 0; i < kValues; ++i) values[i] = sample::mixed(i);
  return values;
}

bool matches(const char* name, const Values& got, unsigned launches) {
  Values expected = first_values();
  for (std::uint32_t& value : expected)
    for (unsigned step = 0; step < launches; ++step) value = next_value(value, step);
  sample::Verdict verdict(name);
  verdict.add(got, expected);
  return verdict.print();
}
}  // namespace

extern "C" {
__global__ void driver_kernel(std::uint32_t* data, unsigned step) { advance(data, step); }
__global__ void extended_kernel(std::uint32_t* data, unsigned step) { advance(data, step); }
__global__ void per_thread_kernel(std::uint32_t* data, unsigned step) { advance(data, step); }
__global__ void context_kernel(std::uint32_t* data, unsigned step) { advance(data, step); }
__global__ void graph_kernel(std::uint32_t* data, unsigned step) { advance(data, step); }

// Each block reads what its neighbour wrote before the grid met: wrong where blocks do not run together.
__global__ void cooperative_kernel(std::uint32_t* data, std::uint32_t* scratch, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned other = (i + blockDim.x) % kValues;
  scratch[i] = next_value(data[i], step);
  cooperative_groups::this_grid().sync();
  data[other] = scratch[other];
}
}

namespace {
// cuLaunchKernel, with the function handle that the driver has.
bool through_driver(unsigned launches) {
  const sample::DeviceArray<std::uint32_t> data(first_values());
  cudaFunction_t function = nullptr;
  SAMPLE_CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(driver_kernel)));
  std::uint32_t* pointer = data.get();
  for (unsigned step = 0; step < launches; ++step) {
    void* arguments[] = {&pointer, &step};
    SAMPLE_CHECK(cuLaunchKernel(function, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));
  }
  return matches("driver_kernel", data.to_host(), launches);
}

// cudaLaunchKernelEx; in clusters of two blocks where the device has clusters.
bool through_extended(unsigned launches) {
  const sample::DeviceArray<std::uint32_t> data(first_values());
  int major = 0;
  SAMPLE_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.attrs = &attribute;
  config.numAttrs = major >= 9 ? 1 : 0;
  for (unsigned step = 0; step < launches; ++step) SAMPLE_CHECK(cudaLaunchKernelEx(&config, extended_kernel, data.get(), step));
  return matches("extended_kernel", data.to_host(), launches);
}

// Two threads, each with its own default stream.
bool through_per_thread_streams(unsigned launches) {
  const sample::DeviceArray<std::uint32_t> first(first_values()), second(first_values());
  const auto launch_all = [launches](std::uint32_t* pointer) {
    for (unsigned step = 0; step < launches; ++step) {
      void* arguments[] = {&pointer, &step};
      SAMPLE_CHECK(cudaLaunchKernel_ptsz(reinterpret_cast<const void*>(per_thread_kernel), dim3(kBlocks), dim3(kThreads),
                                         arguments, 0, nullptr));
    }
    SAMPLE_CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  };
  std::thread other(launch_all, second.get());
  launch_all(first.get());
  other.join();
  const bool first_right = matches("per_thread_kernel/first", first.to_host(), launches);
  return matches("per_thread_kernel/second", second.to_host(), launches) && first_right;
}

CUcontext create_context() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  SAMPLE_CHECK(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
  SAMPLE_CHECK(cuCtxCreate(&context, nullptr, 0, device));
#else
  SAMPLE_CHECK(cuCtxCreate(&context, 0, device));
#endif
  return context;
}

// By turns in two contexts of our own.
bool through_two_contexts(unsigned launches) {
  CUcontext contexts[2] = {};
  CUdeviceptr data[2] = {};
  const std::size_t bytes = kValues * sizeof(std::uint32_t);
  for (int c = 0; c < 2; ++c) {
    contexts[c] = create_context();
    SAMPLE_CHECK(cuMemAlloc(&data[c], bytes));
    SAMPLE_CHECK(cuMemcpyHtoD(data[c], first_values().data(), bytes));
  }
  for (unsigned step = 0; step < launches; ++step) {
    for (int c = 0; c < 2; ++c) {
      SAMPLE_CHECK(cuCtxSetCurrent(contexts[c]));
      context_kernel<<<kBlocks, kThreads>>>(reinterpret_cast<std::uint32_t*>(data[c]), step);
      SAMPLE_CHECK(cudaGetLastError());
    }
  }
  bool right = true;
  for (int c = 0; c < 2; ++c) {
    Values got(kValues);
    SAMPLE_CHECK(cuCtxSetCurrent(contexts[c]));
    SAMPLE_CHECK(cuMemcpyDtoH(got.data(), data[c], bytes));
    right = matches(c == 0 ? "context_kernel/first" : "context_kernel/second", got, launches) && right;
    SAMPLE_CHECK(cuMemFree(data[c]));
    SAMPLE_CHECK(cuCtxDestroy(contexts[c]));
  }
  SAMPLE_CHECK(cudaSetDevice(0));  // back to the primary context
  return right;
}

// Captured once into a CUDA graph of `launches` nodes, replayed twice: the steps start over in the second replay.
bool through_graph(unsigned launches) {
  const sample::DeviceArray<std::uint32_t> data(first_values());
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  SAMPLE_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SAMPLE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (unsigned step = 0; step < launches; ++step) graph_kernel<<<kBlocks, kThreads, 0, stream>>>(data.get(), step);
  SAMPLE_CHECK(cudaGetLastError());
  SAMPLE_CHECK(cudaStreamEndCapture(stream, &graph));
  SAMPLE_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int replay = 0; replay < 2; ++replay) SAMPLE_CHECK(cudaGraphLaunch(executable, stream));
  SAMPLE_CHECK(cudaStreamSynchronize(stream));
  Values expected = first_values();
  for (std::uint32_t& value : expected)
    for (unsigned step = 0; step < 2 * launches; ++step) value = next_value(value, step % launches);
  sample::Verdict verdict("graph_kernel");
  verdict.add(data.to_host(), expected);
  SAMPLE_CHECK(cudaGraphExecDestroy(executable));
  SAMPLE_CHECK(cudaGraphDestroy(graph));
  SAMPLE_CHECK(cudaStreamDestroy(stream));
  return verdict.print();
}

// Blocks that wait for one another: may be launched only where all fit at once.
bool through_cooperative(unsigned launches) {
  const sample::DeviceArray<std::uint32_t> data(first_values()), scratch(kValues);
  std::uint32_t* pointer = data.get();
  std::uint32_t* scratch_pointer = scratch.get();
  for (unsigned step = 0; step < launches; ++step) {
    void* arguments[] = {&pointer, &scratch_pointer, &step};
    SAMPLE_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(cooperative_kernel), dim3(kBlocks), dim3(kThreads),
                                             arguments, 0, nullptr));
  }
  return matches("cooperative_kernel", data.to_host(), launches);
}

struct Door {
  const char* name;
  bool (*launch)(unsigned launches);
};
constexpr Door kDoors[] = {
    {"driver", through_driver},         {"extended", through_extended}, {"per_thread", through_per_thread_streams},
    {"contexts", through_two_contexts}, {"graph", through_graph},       {"cooperative", through_cooperative}};
}  // namespace

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--variant", "all"}, {"--count", "3"}});
  const std::string& variant = options.text("--variant");
  const unsigned count = options.number("--count");
  SAMPLE_CHECK(cudaSetDevice(0));
  SAMPLE_CHECK(cudaFree(nullptr));
  bool known = false, right = true;
  for (const Door& door : kDoors) {
    if (variant != "all" && variant != door.name) continue;
    known = true;
    right = door.launch(count) && right;
  }
  if (!known) options.refuse("--variant");
  SAMPLE_CHECK(cudaDeviceSynchronize());
  return sample::exit_code(right);
}
