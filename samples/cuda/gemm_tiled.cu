// The textbook fp32 matrix product through shared-memory tiles: bound by the LSU and FMA pipes, no tensor cores.
#include "matrix.h"

namespace {
constexpr unsigned kTile = 32;
}

// c = a * b, row-major; `size` is a multiple of kTile; a block of kTile x kTile threads makes one tile of c.
extern "C" __global__ void gemm_tiled_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                             unsigned size) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const unsigned row = blockIdx.y * kTile + threadIdx.y;
  const unsigned column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0F;
  for (unsigned k = 0; k < size; k += kTile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * size + k + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * size + column];
    __syncthreads();
    for (unsigned i = 0; i < kTile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--size", "1024"}, {"--launches", "2"}});
  const unsigned size = options.number("--size");
  if (size % kTile != 0 || size > 4096) options.refuse("--size");
  const auto a = sample::whole_number_matrix(size, 1);
  const auto b = sample::whole_number_matrix(size, 2);
  const sample::DeviceArray<float> a_device(a), b_device(b), c_device(a.size());

  const dim3 grid(size / kTile, size / kTile), block(kTile, kTile);
  for (unsigned i = 0; i < options.number("--launches"); ++i) {
    gemm_tiled_kernel<<<grid, block>>>(a_device.get(), b_device.get(), c_device.get(), size);
    SAMPLE_CHECK(cudaGetLastError());
  }
  SAMPLE_CHECK(cudaDeviceSynchronize());

  sample::Verdict verdict("gemm_tiled_kernel");
  verdict.add(c_device.to_host(), sample::multiply(a, b, size));
  return sample::exit_code(verdict.print());
}
