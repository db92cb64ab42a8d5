// A program that gives its GPU up and takes it again: contexts_probe [ROUNDS]. In each round it adds one to some numbers, prints
// one of them, and destroys the context.
#include <cstdio>
#include <cstdlib>

#include "sample.h"

namespace {

constexpr int kNumbers = 1 << 20, kBlock = 256, kLaunches = 20;

__global__ void add_one(float* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

void add_up(int round) {
  float* numbers = nullptr;
  float last = 0;
  SAMPLE_CHECK(cudaMalloc(&numbers, kNumbers * sizeof(float)));
  SAMPLE_CHECK(cudaMemset(numbers, 0, kNumbers * sizeof(float)));
  for (int i = 0; i < kLaunches; ++i) add_one<<<kNumbers / kBlock, kBlock>>>(numbers);
  SAMPLE_CHECK(cudaMemcpy(&last, numbers + kNumbers - 1, sizeof last, cudaMemcpyDeviceToHost));
  std::printf("round %d: %g\n", round, last);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  for (int round = 0; round < rounds; ++round) {
    add_up(round);
    SAMPLE_CHECK(cudaDeviceReset());
  }
  return 0;
}
