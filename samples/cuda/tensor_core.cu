// A matrix product on tensor cores: fp16 factors, fp32 sums, through the warp matrix functions. Expect the tensor pipe
// to be busy; the tiles come straight from global memory, so that L1 and L2 limit it.
#include <cuda_fp16.h>
#include <mma.h>

#include "matrix.h"

namespace {
constexpr unsigned kTile = 16;      // of c, a fragment
constexpr unsigned kWarpTiles = 2;  // each way, a warp
constexpr unsigned kWarps = 4;      // side by side, a block
constexpr unsigned kWarpSize = 32;
constexpr unsigned kBlockColumns = kTile * kWarpTiles * kWarps;

std::vector<__half> to_half(const std::vector<float>& values) {
  std::vector<__half> halves(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) halves[i] = __float2half(values[i]);
  return halves;
}
}  // namespace

// c = a * b, row-major; `size` is a multiple of kBlockColumns; a warp makes kWarpTiles x kWarpTiles tiles of c.
extern "C" __global__ void tensor_core_kernel(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c,
                                              unsigned size) {
  namespace wmma = nvcuda::wmma;
  const unsigned row = blockIdx.y * kTile * kWarpTiles;
  const unsigned column = blockIdx.x * kBlockColumns + threadIdx.y * kTile * kWarpTiles;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sums[kWarpTiles][kWarpTiles];
  for (auto& line : sums)
    for (auto& sum : line) wmma::fill_fragment(sum, 0.0F);
  for (unsigned k = 0; k < size; k += kTile) {
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> a_tiles[kWarpTiles];
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::row_major> b_tiles[kWarpTiles];
    for (unsigned i = 0; i < kWarpTiles; ++i) {
      wmma::load_matrix_sync(a_tiles[i], a + (row + i * kTile) * size + k, size);
      wmma::load_matrix_sync(b_tiles[i], b + k * size + column + i * kTile, size);
    }
    for (unsigned i = 0; i < kWarpTiles; ++i)
      for (unsigned j = 0; j < kWarpTiles; ++j) wmma::mma_sync(sums[i][j], a_tiles[i], b_tiles[j], sums[i][j]);
  }
  for (unsigned i = 0; i < kWarpTiles; ++i)
    for (unsigned j = 0; j < kWarpTiles; ++j)
      wmma::store_matrix_sync(c + (row + i * kTile) * size + column + j * kTile, sums[i][j], size, wmma::mem_row_major);
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--size", "1024"}, {"--launches", "2"}});
  const unsigned size = options.number("--size");
  if (size % kBlockColumns != 0 || size > 4096) options.refuse("--size");
  const auto a = sample::whole_number_matrix(size, 3);
  const auto b = sample::whole_number_matrix(size, 4);
  const sample::DeviceArray<__half> a_device(to_half(a)), b_device(to_half(b));
  const sample::DeviceArray<float> c_device(a.size());

  const dim3 grid(size / kBlockColumns, size / (kTile * kWarpTiles)), block(kWarpSize, kWarps);
  for (unsigned i = 0; i < options.number("--launches"); ++i) {
    tensor_core_kernel<<<grid, block>>>(a_device.get(), b_device.get(), c_device.get(), size);
    SAMPLE_CHECK(cudaGetLastError());
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());

  sample::Verdict verdict("tensor_core_kernel");
  verdict.add(c_device.to_host(), sample::multiply(a, b, size));
  return sample::exit_code(verdict.print());
}
