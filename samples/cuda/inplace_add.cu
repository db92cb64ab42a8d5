// Adds to memory in place, launch after launch, in several streams at once. What is added depends on what was there, so
// that a launch run twice, lost, or run on memory that was not restored leaves a wrong sum.
#include "memory_kinds.h"

namespace {
constexpr unsigned kStreams = 3;
constexpr unsigned kThreads = 256;
constexpr unsigned kValues = (1U << 20) + 77;  // a stream; no multiple of the block, so that a tail is there

__host__ __device__ std::uint32_t first_value(unsigned stream, unsigned index) { return sample::mixed(index) + stream; }
__host__ __device__ std::uint32_t next_value(std::uint32_t value, unsigned step) { return value + (value << 2) + step; }

bool matches(const std::string& kind, unsigned stream, const std::uint32_t* device, unsigned launches) {
  std::vector<std::uint32_t> got(kValues), expected(kValues);
  SAMPLE_CHECK(cudaMemcpy(got.data(), device, kValues * sizeof(std::uint32_t), cudaMemcpyDefault));
  for (unsigned i = 0; i < kValues; ++i) {
    std::uint32_t value = first_value(stream, i);
    for (unsigned step = 0; step < launches; ++step) value = next_value(value, step);
    expected[i] = value;
  }
  const std::string name = "add_in_place_kernel/" + kind + "/" + std::to_string(stream);
  sample::Verdict verdict(name.c_str());
  verdict.add(got, expected);
  return verdict.print();
}
}  // namespace

extern "C" __global__ void first_values_kernel(std::uint32_t* data, unsigned stream) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kValues) data[i] = first_value(stream, i);
}

extern "C" __global__ void add_in_place_kernel(std::uint32_t* data, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kValues) data[i] = next_value(data[i], step);
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--alloc", "malloc"}, {"--launches", "3"}});
  const std::string kind = options.text("--alloc");
  const unsigned launches = options.number("--launches");
  constexpr unsigned kBlocks = (kValues + kThreads - 1) / kThreads;

  std::vector<cudaStream_t> streams(kStreams);
  std::vector<sample::KernelMemory> memory;
  for (unsigned s = 0; s < kStreams; ++s) {
    SAMPLE_CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    memory.push_back(sample::kernel_memory(kind, kValues * sizeof(std::uint32_t), streams[s]));
    first_values_kernel<<<kBlocks, kThreads, 0, streams[s]>>>(memory[s].get<std::uint32_t>(), s);
    SAMPLE_CHECK(cudaGetLastError());
  }
  for (unsigned step = 0; step < launches; ++step) {
    for (unsigned s = 0; s < kStreams; ++s) {
      add_in_place_kernel<<<kBlocks, kThreads, 0, streams[s]>>>(memory[s].get<std::uint32_t>(), step);
      SAMPLE_CHECK(cudaGetLastError());
    }
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());

  bool right = true;
  for (unsigned s = 0; s < kStreams; ++s) right = matches(kind, s, memory[s].get<std::uint32_t>(), launches) && right;
  memory.clear();
  for (cudaStream_t stream : streams) SAMPLE_CHECK(cudaStreamDestroy(stream));
  return sample::exit_code(right);
}
