#include "targets/training.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Of programs built for per-thread default streams; cuda.h declares them under the plain names.
extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                             void**);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**);
}

namespace target {
namespace {

constexpr int kCount = 512;
constexpr std::size_t kBytes = kCount * sizeof(float);
constexpr unsigned kBlock = 128;

std::vector<float> first_values(float step) {
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = step * static_cast<float>(i % 17) - 1.0F;
  return values;
}

CUdeviceptr allocate(const std::vector<float>& values) {
  CUdeviceptr address = 0;
  CHECK(cuMemAlloc(&address, kBytes));
  CHECK(cuMemcpyHtoD(address, values.data(), kBytes));
  return address;
}

}  // namespace

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s gave %d\n", call, static_cast<int>(result));
  std::fflush(stdout);
  std::_Exit(99);
}

Training::Training(Entry entry, CUstream stream) : entry_(entry), stream_(stream) {
  if (entry_ != Entry::library_kernel) CHECK(cuModuleLoadData(&module_, "the kernels of the program"));
  CHECK(cuLibraryLoadData(&library_, "the kernels of the program", nullptr, nullptr, 0, nullptr, nullptr, 0));
  data_ = allocate(first_values(0.5F));
  other_ = allocate(first_values(0.25F));
  uploaded_ = allocate(first_values(0.0F));
}

Training::~Training() {
  for (const auto address : {data_, other_, uploaded_}) CHECK(cuMemFree(address));
  if (module_ != nullptr) CHECK(cuModuleUnload(module_));
}

CUfunction Training::function(const char* kernel) const {
  if (entry_ == Entry::library_kernel) {
    CUkernel handle = nullptr;
    CHECK(cuLibraryGetKernel(&handle, library_, kernel));
    return reinterpret_cast<CUfunction>(handle);
  }
  CUfunction handle = nullptr;
  CHECK(cuModuleGetFunction(&handle, module_, kernel));
  return handle;
}

void Training::launch(const char* kernel, unsigned grid) {
  int count = kCount;
  std::array<void*, 3> arguments{&data_, &other_, &count};
  CUlaunchConfig config{};
  config.gridDimX = grid;
  config.blockDimX = kBlock;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream_;
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  config.attrs = &cluster;
  config.numAttrs = 1;
  const auto handle = function(kernel);
  switch (entry_) {
    case Entry::plain:
    case Entry::library_kernel:
      return CHECK(cuLaunchKernel(handle, grid, 1, 1, kBlock, 1, 1, 0, stream_, arguments.data(), nullptr));
    case Entry::ptsz:
      return CHECK(cuLaunchKernel_ptsz(handle, grid, 1, 1, kBlock, 1, 1, 0, stream_, arguments.data(), nullptr));
    case Entry::ex:
      return CHECK(cuLaunchKernelEx(&config, handle, arguments.data(), nullptr));
    case Entry::ex_ptsz:
      return CHECK(cuLaunchKernelEx_ptsz(&config, handle, arguments.data(), nullptr));
  }
}

void Training::add_to(CUgraph graph, const char* kernel, unsigned grid) {
  int count = kCount;
  std::array<void*, 3> arguments{&data_, &other_, &count};
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function(kernel);
  params.gridDimX = grid;
  params.blockDimX = kBlock;
  params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments.data();
  CUgraphNode node = nullptr;
  CHECK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
}

bool Training::launch_too_large(const char* kernel) {
  constexpr unsigned kTooLarge = 2048;
  int count = kCount;
  std::array<void*, 3> arguments{&data_, &other_, &count};
  return cuLaunchKernel(function(kernel), 4, 1, 1, kTooLarge, 1, 1, 0, stream_, arguments.data(), nullptr) != CUDA_SUCCESS;
}

void Training::launch_cooperative(const char* kernel) {
  int count = kCount;
  std::array<void*, 3> arguments{&data_, &other_, &count};
  CHECK(cuLaunchCooperativeKernel(function(kernel), 16, 1, 1, kBlock, 1, 1, 0, stream_, arguments.data()));
}

void Training::iterate() {
  launch("_Z12add_in_placePfPKfi");
  launch("_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE", 4);
  launch("_Z6rotatePfPKfi");
  launch("_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE", 8);
  launch("nvjet_tst_128x64_64x8_2x1_v_bz_TNT");
  launch("volta_sgemm_128x64_nn");
}

void Training::reload() {
  CHECK(cuModuleUnload(module_));
  CHECK(cuModuleLoadData(&module_, "the kernels of the program"));
}

bool Training::upload(std::uint8_t value) {
  const std::vector<std::uint8_t> bytes(kBytes, value);
  std::vector<std::uint8_t> back(kBytes);
  CHECK(cuMemcpyHtoD(uploaded_, bytes.data(), kBytes));
  CHECK(cuMemcpyDtoH(back.data(), uploaded_, kBytes));
  return bytes == back;
}

void Training::write_value(std::uint32_t value) { CHECK(cuStreamWriteValue32(stream_, uploaded_, value, 0)); }

std::string Training::checksum() const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto address : {data_, other_}) {
    std::array<std::uint32_t, kCount> words{};
    CHECK(cuMemcpyDtoH(words.data(), address, kBytes));
    for (const auto word : words) hash = (hash ^ word) * 0x100000001b3;
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace target
