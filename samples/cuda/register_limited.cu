// Keeps so many sums in registers that few blocks fit on a multiprocessor: occupancy limited by registers. The light
// kernel does the same with few sums a thread, and is not limited.
#include "sample.h"

namespace {
constexpr unsigned kThreads = 256;
constexpr unsigned kHeavySums = 160;  // registers of their own; with the rest, one block of 256 threads a multiprocessor
constexpr unsigned kLightSums = 8;
constexpr unsigned kRounds = 64;

// Every sum has its own odd factor, so that none can be derived from another. The sums stay live through all rounds.
template <unsigned kSums>
__host__ __device__ std::uint32_t accumulate(std::uint32_t seed) {
  std::uint32_t sums[kSums];
#pragma unroll
  for (unsigned i = 0; i < kSums; ++i) sums[i] = seed + i;
#pragma unroll 1
  for (unsigned round = 0; round < kRounds; ++round) {
#pragma unroll
    for (unsigned i = 0; i < kSums; ++i) sums[i] = sums[i] * (2 * i + 3) + round;
  }
  std::uint32_t total = 0;
#pragma unroll
  for (unsigned i = 0; i < kSums; ++i) total = total * 31 + sums[i];
  return total;
}

template <unsigned kSums>
bool matches(const char* name, const std::vector<std::uint32_t>& got) {
  sample::Verdict verdict(name);
  for (std::size_t i = 0; i < got.size(); ++i)
    verdict.add(got[i], accumulate<kSums>(sample::mixed(static_cast<std::uint32_t>(i))));
  return verdict.print();
}
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads, 1) register_limited_kernel(std::uint32_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = accumulate<kHeavySums>(sample::mixed(i));
}

extern "C" __global__ void __launch_bounds__(kThreads) register_light_kernel(std::uint32_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = accumulate<kLightSums>(sample::mixed(i));
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--blocks", "132"}, {"--launches", "1"}});
  const unsigned blocks = options.number("--blocks");
  const std::size_t threads = std::size_t{blocks} * kThreads;
  const sample::DeviceArray<std::uint32_t> heavy(threads), light(threads);
  for (unsigned i = 0; i < options.number("--launches"); ++i) {
    register_limited_kernel<<<blocks, kThreads>>>(heavy.get());
    SAMPLE_CHECK(cudaGetLastError());
    register_light_kernel<<<blocks, kThreads>>>(light.get());
    SAMPLE_CHECK(cudaGetLastError());
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());
  const bool heavy_right = matches<kHeavySums>("register_limited_kernel", heavy.to_host());
  const bool light_right = matches<kLightSums>("register_light_kernel", light.to_host());
  return sample::exit_code(heavy_right && light_right);
}
