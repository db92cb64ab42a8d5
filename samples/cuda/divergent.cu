// The same work on the same number of threads, once with the lanes of each warp on four different paths, once with
// whole warps on one path each. Compare threads per warp instruction and the issued instructions of the two kernels.
#include "sample.h"

namespace {
constexpr unsigned kThreads = 256;
constexpr unsigned kWarpSize = 32;
constexpr unsigned kPaths = 4;
constexpr unsigned kRounds = 256;

// The paths have loops of different instructions, so that the compiler cannot merge them by selecting operands.
__host__ __device__ std::uint32_t work(std::uint32_t x, unsigned path) {
  switch (path) {
    case 0:
      for (unsigned i = 0; i < kRounds; ++i) x = x * 1664525U + 1013904223U;
      break;
    case 1:
      for (unsigned i = 0; i < kRounds; ++i) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
      }
      break;
    case 2:
      for (unsigned i = 0; i < kRounds; ++i) x = ((x << 7) | (x >> 25)) + 0x9e3779b9U;
      break;
    default:
      for (unsigned i = 0; i < kRounds; ++i) x = (x >> 1) ^ ((x & 1U) != 0 ? 0xedb88320U : i);
      break;
  }
  return x;
}

__host__ __device__ unsigned path_of_lane(unsigned thread) { return thread % kPaths; }
__host__ __device__ unsigned path_of_warp(unsigned thread) { return thread / kWarpSize % kPaths; }

bool matches(const char* name, const std::vector<std::uint32_t>& got, unsigned (*path)(unsigned)) {
  sample::Verdict verdict(name);
  for (unsigned i = 0; i < got.size(); ++i) verdict.add(got[i], work(sample::mixed(i), path(i)));
  return verdict.print();
}
}  // namespace

extern "C" __global__ void divergent_kernel(std::uint32_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(sample::mixed(i), path_of_lane(i));
}

extern "C" __global__ void uniform_kernel(std::uint32_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(sample::mixed(i), path_of_warp(i));
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--blocks", "1024"}, {"--launches", "1"}});
  const unsigned blocks = options.number("--blocks");
  const std::size_t threads = std::size_t{blocks} * kThreads;
  const sample::DeviceArray<std::uint32_t> divergent(threads), uniform(threads);
  for (unsigned i = 0; i < options.number("--launches"); ++i) {
    divergent_kernel<<<blocks, kThreads>>>(divergent.get());
    SAMPLE_CHECK(cudaGetLastError());
    uniform_kernel<<<blocks, kThreads>>>(uniform.get());
    SAMPLE_CHECK(cudaGetLastError());
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());
  const bool divergent_right = matches("divergent_kernel", divergent.to_host(), path_of_lane);
  const bool uniform_right = matches("uniform_kernel", uniform.to_host(), path_of_warp);
  return sample::exit_code(divergent_right && uniform_right);
}
