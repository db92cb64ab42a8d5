// Launches one kernel within NVTX ranges of all kinds: nested, of a domain, started and ended, of another thread, with names
// that hold special characters. Every launch executes a number of instructions of its own, so that two profilers' counts of
// executed instructions tell whether they picked the same ones.
#include <nvtx3/nvToolsExt.h>

#include <thread>
#include <vector>

#include "sample.h"

namespace {
constexpr unsigned kBlocks = 16, kThreads = 64;

__host__ __device__ std::uint32_t next_value(std::uint32_t value) { return value * 1664525U + 1013904223U; }
}  // namespace

// One more round for each launch before it: the launch's fingerprint.
__global__ void marked_kernel(std::uint32_t* data, unsigned rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t value = data[i];
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) value = next_value(value);
  data[i] = value;
}

namespace {
class Program {
 public:
  void launch(const char* where) {
    ++rounds_;
    marked_kernel<<<kBlocks, kThreads>>>(data_.get(), rounds_);
    SAMPLE_CHECK(cudaGetLastError());
    SAMPLE_CHECK(cudaDeviceSynchronize());
    for (std::uint32_t& value : expected_)
      for (unsigned round = 0; round < rounds_; ++round) value = next_value(value);
    std::printf("launch %u %s\n", rounds_, where);
  }

  // Launches once, and then within each of `names` inside the one before.
  void nest(const std::vector<const char*>& names) {
    for (const char* name : names) {
      nvtxRangePushA(name);
      launch(name);
    }
    for (std::size_t i = 0; i < names.size(); ++i) nvtxRangePop();
  }

  void use_domains() {
    const nvtxDomainHandle_t net = nvtxDomainCreateA("net"), other = nvtxDomainCreateA("other net");
    push(net, "forward");
    launch("net: forward");
    nvtxRangePushA("outer");
    push(other, "forward");
    push(net, "layer");
    launch("net: forward, layer; other net: forward; outer");
    nvtxDomainRangePop(net);
    nvtxDomainRangePop(other);
    launch("net: forward; outer");
    nvtxRangePop();
    nvtxDomainRangePop(net);
    nvtxEventAttributes_t event = named("epoch");
    const nvtxRangeId_t epoch = nvtxDomainRangeStartEx(net, &event);
    launch("net: epoch");
    nvtxDomainRangeEnd(net, epoch);
  }

  void use_started_ranges() {
    const nvtxRangeId_t epoch = nvtxRangeStartA("epoch");
    launch("epoch");
    const nvtxRangeId_t step = nvtxRangeStartA("step");
    launch("epoch, step");
    std::thread([this] {
      nvtxRangePushA("worker");
      launch("epoch, step; worker");
      nvtxRangePop();
    }).join();
    nvtxRangeEnd(epoch);
    launch("step");
    nvtxRangePushA("outer");
    launch("step; outer");
    nvtxRangePop();
    nvtxRangeEnd(step);
  }

  int end() {
    sample::Verdict verdict("nvtx_probe");
    verdict.add(data_.to_host(), expected_);
    return sample::exit_code(verdict.print());
  }

 private:
  static nvtxEventAttributes_t named(const char* name) {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    return event;
  }
  static void push(nvtxDomainHandle_t domain, const char* name) {
    const nvtxEventAttributes_t event = named(name);
    nvtxDomainRangePushEx(domain, &event);
  }

  std::vector<std::uint32_t> expected_ = std::vector<std::uint32_t>(kBlocks * kThreads, 1);
  const sample::DeviceArray<std::uint32_t> data_{expected_};
  unsigned rounds_ = 0;
};
}  // namespace

int main(int argc, char** argv) {
  sample::Options options(argc, argv, {});
  Program program;
  program.launch("no range");
  program.nest({"outer", "middle", "inner"});
  program.nest({"outer", "inner"});
  program.nest({"first", "outer", "middle", "deep", "inner"});
  program.nest({"f(a, b)[0]", "x/y", "user@host"});
  program.use_domains();
  program.use_started_ranges();
  program.launch("no range");
  return program.end();
}
