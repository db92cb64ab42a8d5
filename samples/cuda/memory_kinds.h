// Memory that a kernel can write, from each of CUDA's ways of getting it. A profiler that replays a kernel must save
// and restore all of them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "sample.h"

namespace sample {

// Memory and the way to give it back; gone at the end of its scope. Needs a current context all its life.
class KernelMemory {
 public:
  KernelMemory(void* device, std::function<void()> release) : device_(device), release_(std::move(release)) {}
  KernelMemory(KernelMemory&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), release_(std::exchange(other.release_, nullptr)) {}
  KernelMemory(const KernelMemory&) = delete;
  KernelMemory& operator=(const KernelMemory&) = delete;
  KernelMemory& operator=(KernelMemory&&) = delete;
  ~KernelMemory() {
    if (release_) release_();
  }

  // As kernels see it.
  template <typename T>
  [[nodiscard]] T* get() const {
    return static_cast<T*>(device_);
  }

 private:
  void* device_;
  std::function<void()> release_;
};

[[nodiscard]] inline KernelMemory plain_memory(std::size_t bytes) {
  void* device = nullptr;
  SAMPLE_CHECK(cudaMalloc(&device, bytes));
  return {device, [device] { SAMPLE_CHECK(cudaFree(device)); }};
}

// From the stream-ordered pool of the current device.
[[nodiscard]] inline KernelMemory pool_memory(std::size_t bytes, cudaStream_t stream) {
  void* device = nullptr;
  SAMPLE_CHECK(cudaMallocAsync(&device, bytes, stream));
  return {device, [device, stream] { SAMPLE_CHECK(cudaFreeAsync(device, stream)); }};
}

// Page-locked host memory, mapped into the device's address space.
[[nodiscard]] inline KernelMemory mapped_memory(std::size_t bytes) {
  void* host = nullptr;
  void* device = nullptr;
  SAMPLE_CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
  SAMPLE_CHECK(cudaHostGetDevicePointer(&device, host, 0));
  return {device, [host] { SAMPLE_CHECK(cudaFreeHost(host)); }};
}

// Physical memory mapped by hand into a reserved range of addresses (the driver's virtual memory management).
[[nodiscard]] inline KernelMemory virtual_memory(std::size_t bytes) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  SAMPLE_CHECK(cudaGetDevice(&properties.location.id));
  std::size_t granularity = 0;
  SAMPLE_CHECK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t whole = (bytes + granularity - 1) / granularity * granularity;

  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle physical = 0;
  SAMPLE_CHECK(cuMemAddressReserve(&address, whole, 0, 0, 0));
  SAMPLE_CHECK(cuMemCreate(&physical, whole, &properties, 0));
  SAMPLE_CHECK(cuMemMap(address, whole, 0, physical, 0));
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  SAMPLE_CHECK(cuMemSetAccess(address, whole, &access, 1));
  return {reinterpret_cast<void*>(address), [=] {
            SAMPLE_CHECK(cuMemUnmap(address, whole));
            SAMPLE_CHECK(cuMemRelease(physical));
            SAMPLE_CHECK(cuMemAddressFree(address, whole));
          }};
}

// `kind` is malloc, async, mapped or vmm; ends the program with code 2 on another.
[[nodiscard]] inline KernelMemory kernel_memory(const std::string& kind, std::size_t bytes, cudaStream_t stream) {
  if (kind == "malloc") return plain_memory(bytes);
  if (kind == "async") return pool_memory(bytes, stream);
  if (kind == "mapped") return mapped_memory(bytes);
  if (kind == "vmm") return virtual_memory(bytes);
  std::fprintf(stderr, "no such kind of memory: '%s' (malloc, async, mapped or vmm)\n", kind.c_str());
  std::exit(2);
}

}  // namespace sample
