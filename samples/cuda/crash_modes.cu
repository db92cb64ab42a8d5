// Launches a few kernels, then ends in one of the ways in which programs end without a proper exit. A profiler must keep
// what it had measured until then, and pass on how the program ended.
#include <csignal>

#include <unistd.h>

#include "sample.h"

namespace {
constexpr unsigned kThreads = 128;
constexpr unsigned kBlocks = 64;
constexpr unsigned kPatience = 20;  // seconds to wait for a signal before giving up
constexpr int kOwnCode = 7;         // of `_exit`
constexpr int kGaveUp = 3;

__host__ __device__ std::uint32_t next_value(std::uint32_t value, unsigned step) { return value * 5 + step; }

void say(const char* words) {
  std::printf("%s\n", words);
  std::fflush(stdout);
}
}  // namespace

extern "C" __global__ void crash_modes_kernel(std::uint32_t* data, unsigned step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = next_value(data[i], step);
}

namespace {
void launch(std::uint32_t* data, unsigned step) {
  crash_modes_kernel<<<kBlocks, kThreads>>>(data, step);
  SAMPLE_CHECK(cudaGetLastError());
  SAMPLE_CHECK(cudaDeviceSynchronize());
}

bool matches(const sample::DeviceArray<std::uint32_t>& data, unsigned launches) {
  const std::vector<std::uint32_t> got = data.to_host();
  sample::Verdict verdict("crash_modes_kernel");
  for (unsigned i = 0; i < got.size(); ++i) {
    std::uint32_t value = sample::mixed(i);
    for (unsigned step = 0; step < launches; ++step) value = next_value(value, step);
    verdict.add(got[i], value);
  }
  return verdict.print();
}

[[noreturn]] void wait_for_signal() {
  say("ready");
  for (unsigned i = 0; i < kPatience; ++i) sleep(1);
  _exit(kGaveUp);
}

[[noreturn]] void launch_until_signal(std::uint32_t* data) {
  say("ready");
  const auto until = time(nullptr) + kPatience;
  while (time(nullptr) < until) launch(data, 0);
  _exit(kGaveUp);
}

int end(const std::string& mode, std::uint32_t* data) {
  if (mode == "none") return EXIT_SUCCESS;
  if (mode == "_exit") _exit(kOwnCode);
  if (mode == "abort") std::abort();
  if (mode == "segv") {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (mode == "kill") raise(SIGKILL);
  if (mode == "wait") wait_for_signal();
  if (mode == "loop") launch_until_signal(data);
  std::fprintf(stderr, "no such mode: '%s' (none, _exit, abort, segv, kill, wait or loop)\n", mode.c_str());
  return 2;
}
}  // namespace

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {{"--mode", "none"}, {"--after", "3"}});
  const unsigned launches = options.number("--after");
  std::vector<std::uint32_t> values(kThreads * kBlocks);
  for (unsigned i = 0; i < values.size(); ++i) values[i] = sample::mixed(i);
  const sample::DeviceArray<std::uint32_t> data(values);
  for (unsigned step = 0; step < launches; ++step) launch(data.get(), step);
  if (!matches(data, launches)) return EXIT_FAILURE;
  return end(options.text("--mode"), data.get());
}
