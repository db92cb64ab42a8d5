// Transposes a matrix through shared memory twice over: once with tiles whose columns all lie in one bank (32-way
// conflicts), once with rows padded by a word (none). Compare the two kernels' shared-memory wavefronts.
#include "sample.h"

namespace {
constexpr unsigned kTile = 32;    // also the number of banks
constexpr unsigned kRounds = 16;  // trips through the tile, so that shared memory outweighs DRAM

// A block of kTile x kTile threads; `size` is a multiple of kTile. kRounds is even, so that each round of two passes
// leaves the tile as it was, and the last, odd one transposes it.
template <unsigned kPitch>
__device__ void transpose(const std::uint32_t* __restrict__ in, std::uint32_t* __restrict__ out, unsigned size) {
  __shared__ std::uint32_t tile[kTile][kPitch];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  std::uint32_t value = in[(blockIdx.y * kTile + y) * size + blockIdx.x * kTile + x];
  for (unsigned round = 0; round < kRounds + 1; ++round) {
    tile[y][x] = value;
    __syncthreads();
    value = tile[x][y];  // a column: one bank where kPitch is 32, all of them where it is 33
    __syncthreads();
  }
  out[(blockIdx.x * kTile + y) * size + blockIdx.y * kTile + x] = value;
}

bool matches(const char* name, const std::vector<std::uint32_t>& in, const std::vector<std::uint32_t>& out, unsigned size) {
  sample::Verdict verdict(name);
  for (std::size_t row = 0; row < size; ++row)
    for (std::size_t column = 0; column < size; ++column) verdict.add(out[row * size + column], in[column * size + row]);
  return verdict.print();
}
}  // namespace

extern "C" __global__ void transpose_conflict_kernel(const std::uint32_t* in, std::uint32_t* out, unsigned size) {
  transpose<kTile>(in, out, size);
}

extern "C" __global__ void transpose_padded_kernel(const std::uint32_t* in, std::uint32_t* out, unsigned size) {
  transpose<kTile + 1>(in, out, size);
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--size", "2048"}, {"--launches", "1"}});
  const unsigned size = options.number("--size");
  if (size % kTile != 0 || size > 16384) options.refuse("--size");
  std::vector<std::uint32_t> values(std::size_t{size} * size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = sample::mixed(static_cast<std::uint32_t>(i));
  const sample::DeviceArray<std::uint32_t> in(values), conflict(values.size()), padded(values.size());

  const dim3 grid(size / kTile, size / kTile), block(kTile, kTile);
  for (unsigned i = 0; i < options.number("--launches"); ++i) {
    transpose_conflict_kernel<<<grid, block>>>(in.get(), conflict.get(), size);
    SAMPLE_CHECK(cudaGetLastError());
    transpose_padded_kernel<<<grid, block>>>(in.get(), padded.get(), size);
    SAMPLE_CHECK(cudaGetLastError());
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());
  const bool conflict_right = matches("transpose_conflict_kernel", values, conflict.to_host(), size);
  const bool padded_right = matches("transpose_padded_kernel", values, padded.to_host(), size);
  return sample::exit_code(conflict_right && padded_right);
}
