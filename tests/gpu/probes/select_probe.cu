// Launches several kernels on varying grids and streams, in an order that never changes. Every launch executes a number
// of instructions of its own, so that two profilers' executed-instruction counts tell whether they picked the same ones.
#include <string>
#include <vector>

#include "sample.h"

namespace {
constexpr unsigned kThreads = 64;
constexpr unsigned kValues = 64 * 1024;

__host__ __device__ std::uint32_t next_value(std::uint32_t value) { return value * 1664525U + 1013904223U; }

// One more round for each launch before it: the launch's fingerprint.
__device__ void churn(std::uint32_t* data, unsigned rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t value = data[i];
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) value = next_value(value);
  data[i] = value;
}
}  // namespace

__global__ void alpha_kernel(std::uint32_t* data, unsigned rounds) { churn(data, rounds); }
__global__ void beta_kernel(std::uint32_t* data, unsigned rounds) { churn(data, rounds); }

namespace probe {
// Named by what it does.
__global__ void tiny_gemm(std::uint32_t* data, unsigned rounds) { churn(data, rounds); }
// Named by its template argument alone, as CUTLASS names its kernels.
struct gemm_policy {};
template <typename Policy>
__global__ void Kernel2(std::uint32_t* data, unsigned rounds) {
  churn(data, rounds);
}
}  // namespace probe

namespace {
using Kernel = void (*)(std::uint32_t*, unsigned);

struct Launch {
  const char* name;
  Kernel kernel;
  unsigned blocks;
  unsigned stream;  // 0: the default stream
};

// Three rounds over kernels, grids and streams, none in step with another.
std::vector<Launch> plan() {
  std::vector<Launch> launches;
  for (unsigned round = 0; round < 3; ++round) {
    launches.push_back({"alpha", alpha_kernel, 64, 0});
    launches.push_back({"beta", beta_kernel, 64, 1});
    launches.push_back({"alpha", alpha_kernel, 128, round % 3});
    launches.push_back({"gemm", probe::tiny_gemm, 32U << round, 0});
    launches.push_back({"kernel2", probe::Kernel2<probe::gemm_policy>, 64, 2});
    launches.push_back({"alpha", alpha_kernel, 64, 2});
    launches.push_back({"kernel2", probe::Kernel2<int>, 64, 1});
    launches.push_back({"beta", beta_kernel, 128, 0});
  }
  return launches;
}
}  // namespace

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {});
  std::vector<std::uint32_t> expected(kValues, 1);
  const sample::DeviceArray<std::uint32_t> data(expected);
  cudaStream_t streams[3] = {};
  for (int s = 1; s < 3; ++s) SAMPLE_CHECK(cudaStreamCreate(&streams[s]));

  unsigned rounds = 0;
  for (const Launch& launch : plan()) {
    ++rounds;
    launch.kernel<<<launch.blocks, kThreads, 0, streams[launch.stream]>>>(data.get(), rounds);
    SAMPLE_CHECK(cudaGetLastError());
    SAMPLE_CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < launch.blocks * kThreads; ++i)
      for (unsigned round = 0; round < rounds; ++round) expected[i] = next_value(expected[i]);
    std::printf("launch %u %s %u blocks stream %u\n", rounds, launch.name, launch.blocks, launch.stream);
  }
  for (int s = 1; s < 3; ++s) SAMPLE_CHECK(cudaStreamDestroy(streams[s]));
  sample::Verdict verdict("select_probe");
  verdict.add(data.to_host(), expected);
  return sample::exit_code(verdict.print());
}
