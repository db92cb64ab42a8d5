// The fake GPUs: figures of an H200, but for an L2 that is quick to flush.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "cuda/state.h"

namespace {

constexpr std::size_t kMemoryBytes = 150'110'011'392;

const std::map<CUdevice_attribute, int> kAttributes{
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 262'144},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1'980'000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3'201'000},
};

int device_count() {
  const char* text = std::getenv("FAKE_CUDA_DEVICES");
  return text != nullptr ? std::atoi(text) : 2;
}

bool is_device(CUdevice device) { return device >= 0 && device < device_count(); }

}  // namespace

extern "C" {

CUresult cuDriverGetVersion(int* version) {
  if (const auto refused = fakes::refuse("cuDriverGetVersion", __builtin_return_address(0), false)) return *refused;
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  FAKE_ENTRY(cuDeviceGetCount);
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  FAKE_ENTRY(cuDeviceGet);
  *device = ordinal;
  return is_device(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  FAKE_ENTRY(cuDeviceGetName);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(size), "NVIDIA H200 (fake)");
  return CUDA_SUCCESS;
}

// Processes that are profiled together have the same GPUs; others, which take no turns with them, have GPUs of their own.
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  FAKE_ENTRY(cuDeviceGetPCIBusId);
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const char* options = std::getenv("DLKPROF_OPTIONS");
  const auto domain = static_cast<unsigned>(std::hash<std::string>{}(options != nullptr ? options : "") % 0x10000);
  std::snprintf(text, static_cast<std::size_t>(size), "%04X:%02X:00.0", domain, 0x1B + static_cast<unsigned>(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  FAKE_ENTRY(cuDeviceGetAttribute);
  const auto found = kAttributes.find(attribute);
  if (!is_device(device) || found == kAttributes.end()) return CUDA_ERROR_INVALID_VALUE;
  *value = found->second;
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  FAKE_ENTRY(cuDeviceTotalMem_v2);
  *bytes = kMemoryBytes;
  return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (const auto refused = fakes::refuse("cuGetErrorName", __builtin_return_address(0), false)) return *refused;
  static const std::map<CUresult, const char*> names{
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
      {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
      {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
  };
  const auto found = names.find(error);
  *name = found != names.end() ? found->second : nullptr;
  return found != names.end() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
