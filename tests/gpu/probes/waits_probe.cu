// What was launched waits for the program: waits_probe flag|host|thread [ROUNDS].
//
//   flag    a kernel waits for a flag in host memory, which is set once kernels were launched for another stream
//   host    a host function waits for it
//   thread  likewise, and another thread sets it once it has launched
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "sample.h"

namespace {

constexpr int kNumbers = 1 << 20, kBlock = 256;

}  // namespace

__global__ void add_one(float* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void halve(float* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] /= 2; }
__global__ void waits_for_flag(const volatile int* flag, int value) {
  while (*flag != value) {
  }
}

namespace {

class Numbers {
 public:
  Numbers() {
    SAMPLE_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    SAMPLE_CHECK(cudaMalloc(&numbers_, kNumbers * sizeof(float)));
    SAMPLE_CHECK(cudaMemsetAsync(numbers_, 0, kNumbers * sizeof(float), stream_));
    add_one();  // once before anything waits: to load a kernel the driver may wait for all others
    halve();
    SAMPLE_CHECK(cudaDeviceSynchronize());
  }
  // `less`: blocks, so that this is a launch configuration of its own.
  void add_one(int less = 0) { ::add_one<<<kNumbers / kBlock - less, kBlock, 0, stream_>>>(numbers_); }
  void halve() { ::halve<<<kNumbers / kBlock, kBlock, 0, stream_>>>(numbers_); }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] float last() const {
    float last = 0;
    SAMPLE_CHECK(cudaMemcpyAsync(&last, numbers_ + kNumbers - 1, sizeof last, cudaMemcpyDeviceToHost, stream_));
    SAMPLE_CHECK(cudaStreamSynchronize(stream_));
    return last;
  }

 private:
  cudaStream_t stream_ = nullptr;
  float* numbers_ = nullptr;
};

std::atomic<int> g_flag{0};  // of host functions

void wait_for_flag(void* value) {
  while (g_flag < static_cast<int>(reinterpret_cast<std::intptr_t>(value)))
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void flag(int rounds) {
  int* flag = nullptr;
  SAMPLE_CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  Numbers numbers, waiting;
  waits_for_flag<<<1, 1, 0, waiting.stream()>>>(flag, 0);
  SAMPLE_CHECK(cudaDeviceSynchronize());
  for (int i = 1; i <= rounds; ++i) {
    waits_for_flag<<<1, 1, 0, waiting.stream()>>>(flag, i);
    waiting.add_one(i);
    numbers.add_one(i);
    numbers.halve();
    *static_cast<volatile int*>(flag) = i;
    SAMPLE_CHECK(cudaDeviceSynchronize());
  }
  std::printf("%g %g\n", waiting.last(), numbers.last());
}

void host(int rounds, bool on_another_thread) {
  Numbers numbers, waiting, others;
  for (int i = 1; i <= rounds; ++i) {
    SAMPLE_CHECK(cudaLaunchHostFunc(waiting.stream(), wait_for_flag, reinterpret_cast<void*>(std::intptr_t{i})));
    std::thread other;
    if (on_another_thread) {
      other = std::thread([&others, i] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        others.halve();
        g_flag = i;
      });
    }
    waiting.add_one(i);
    numbers.add_one(i);
    numbers.halve();
    if (on_another_thread) other.join();
    g_flag = i;
    SAMPLE_CHECK(cudaDeviceSynchronize());
  }
  std::printf("%g %g\n", waiting.last(), numbers.last());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 100;
  if (what == "flag") {
    flag(rounds);
  } else if (what == "host" || what == "thread") {
    host(rounds, what == "thread");
  } else {
    std::fprintf(stderr, "usage: waits_probe flag|host|thread [ROUNDS]\n");
    return 2;
  }
  return 0;
}
