// Copies more than L2 holds: bound by DRAM bandwidth, nothing else. Expect DRAM throughput near its peak, an idle SM,
// and stalls on long scoreboard.
#include <algorithm>

#include "sample.h"

namespace {
constexpr unsigned kThreads = 256;

// The word at `index` of the source: a cheap bijection, so that a misplaced word shows.
__host__ __device__ std::uint32_t source_word(std::uint32_t index) { return index * 2654435761U + 0x9e3779b9U; }

bool matches(const uint4* device, std::size_t vectors) {
  constexpr std::size_t kChunk = std::size_t{1} << 22;  // 64 MB: a host buffer that is cheap to touch
  std::vector<uint4> chunk(std::min(kChunk, vectors));
  sample::Verdict verdict("copy_kernel");
  for (std::size_t done = 0; done < vectors; done += chunk.size()) {
    const std::size_t count = std::min(chunk.size(), vectors - done);
    SAMPLE_CHECK(cudaMemcpy(chunk.data(), device + done, count * sizeof(uint4), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) {
      const auto word = static_cast<std::uint32_t>(4 * (done + i));
      verdict.add(chunk[i].x, source_word(word));
      verdict.add(chunk[i].y, source_word(word + 1));
      verdict.add(chunk[i].z, source_word(word + 2));
      verdict.add(chunk[i].w, source_word(word + 3));
    }
  }
  return verdict.print();
}
}  // namespace

extern "C" __global__ void fill_kernel(uint4* data, std::size_t vectors) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  const auto word = static_cast<std::uint32_t>(4 * i);
  data[i] = make_uint4(source_word(word), source_word(word + 1), source_word(word + 2), source_word(word + 3));
}

extern "C" __global__ void copy_kernel(const uint4* __restrict__ from, uint4* __restrict__ to, std::size_t vectors) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < vectors) to[i] = from[i];
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--megabytes", "512"}, {"--launches", "2"}});
  const std::size_t vectors = (std::size_t{options.number("--megabytes")} << 20) / sizeof(uint4);
  const auto blocks = static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
  const sample::DeviceArray<uint4> from(vectors), to(vectors);

  fill_kernel<<<blocks, kThreads>>>(from.get(), vectors);
  SAMPLE_CHECK(cudaGetLastError());
  for (unsigned i = 0; i < options.number("--launches"); ++i) {
    copy_kernel<<<blocks, kThreads>>>(from.get(), to.get(), vectors);
    SAMPLE_CHECK(cudaGetLastError());
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());
  return sample::exit_code(matches(to.get(), vectors));
}
