#include "cupti/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"

namespace dlkprof::cupti {

const Driver& Driver::open() {
  static const Driver driver = [] {
    Driver table;
    void* handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* words = dlerror();
      throw Error("no NVIDIA driver library", words != nullptr ? words : "libcuda.so.1",
                  "Install the NVIDIA driver, or start the container with its GPUs (docker run --gpus all).");
    }
#define X(name, symbol, type)                                             \
  table.name = reinterpret_cast<decltype(&type)>(dlsym(handle, #symbol)); \
  if (table.name == nullptr)                                              \
    throw Error("the NVIDIA driver lacks " #symbol, "libcuda.so.1", "Install a driver for CUDA 12.6 or later (560 or later).");
    DLKPROF_DRIVER_FUNCTIONS(X)
#undef X
    return table;
  }();
  return driver;
}

void check(const Driver& driver, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  throw Error("a call to the CUDA driver failed", std::string(call) + ": " + name_of(driver, result), "");
}

std::string name_of(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  return driver.cuGetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr ? name : "an unknown error";
}

namespace {

std::vector<CUdevice> used_devices(const Driver& driver) {
  int devices = 0;
  check(driver, driver.cuDeviceGetCount(&devices), "cuDeviceGetCount");
  std::vector<CUdevice> used;
  for (CUdevice device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    check(driver, driver.cuDevicePrimaryCtxGetState(device, &flags, &active), "cuDevicePrimaryCtxGetState");
    if (active != 0) used.push_back(device);
  }
  return used;
}

// Held while it lives, as far as it can be: cudaDeviceReset ends it all the same.
class PrimaryContext {
 public:
  PrimaryContext(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {
    check(driver_, driver_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  ~PrimaryContext() { (void)driver_.cuDevicePrimaryCtxRelease(device_); }

  [[nodiscard]] CUcontext get() const noexcept { return context_; }
  void synchronize() const {
    const CurrentContext current(driver_, context_);
    check(driver_, driver_.cuCtxSynchronize(), "cuCtxSynchronize");
  }

 private:
  const Driver& driver_;
  const CUdevice device_;
  CUcontext context_ = nullptr;
};

}  // namespace

int devices_in_use(const Driver& driver) { return static_cast<int>(used_devices(driver).size()); }

void synchronize_devices(const Driver& driver) {
  check(driver, driver.cuCtxSynchronize(), "cuCtxSynchronize");
  CUdevice own = 0;
  check(driver, driver.cuCtxGetDevice(&own), "cuCtxGetDevice");
  for (const CUdevice device : used_devices(driver)) {
    if (device != own) PrimaryContext(driver, device).synchronize();
  }
}

std::vector<CUcontext> contexts_of_others(const Driver& driver, CUcontext context) {
  std::vector<CUcontext> contexts;
  for (const CUdevice device : used_devices(driver)) {
    const PrimaryContext primary(driver, device);
    if (primary.get() != context) contexts.push_back(primary.get());
  }
  return contexts;
}

capture::DeviceRecord read_device(const Driver& driver, CUdevice device, std::string chip) {
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(driver, driver.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return static_cast<std::uint32_t>(value);
  };
  std::array<char, 256> text{};
  capture::DeviceRecord record;
  record.index = static_cast<std::uint32_t>(device);
  record.chip = std::move(chip);
  check(driver, driver.cuDeviceGetName(text.data(), static_cast<int>(text.size()), device), "cuDeviceGetName");
  record.name = text.data();
  check(driver, driver.cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device), "cuDeviceGetPCIBusId");
  record.pci_bus_id = text.data();
  record.cc_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  record.cc_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  record.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  record.warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  record.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  record.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  record.max_blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  record.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  record.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  record.shared_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  record.shared_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  record.shared_per_block_optin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  record.shared_reserved_per_block = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  record.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  record.sm_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  record.memory_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  std::size_t memory = 0;
  check(driver, driver.cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem");
  record.memory_bytes = memory;
  return record;
}

namespace {

// A launch may name a CUkernel (library handle) in place of a CUfunction; attributes are asked of the function.
CUfunction function_behind(const Driver& driver, CUfunction handle) noexcept {
  int value = 0;
  if (driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, handle) == CUDA_SUCCESS) return handle;
  CUfunction of_kernel = nullptr;
  return driver.cuKernelGetFunction(&of_kernel, reinterpret_cast<CUkernel>(handle)) == CUDA_SUCCESS ? of_kernel : handle;
}

}  // namespace

capture::FunctionRecord read_function(const Driver& driver, CUfunction function, std::string mangled_name) {
  function = function_behind(driver, function);
  const auto attribute = [&](CUfunction_attribute which) {
    int attribute_value = 0;
    check(driver, driver.cuFuncGetAttribute(&attribute_value, which, function), "cuFuncGetAttribute");
    return attribute_value;
  };
  capture::FunctionRecord record;
  record.mangled_name = std::move(mangled_name);
  record.registers_per_thread = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
  record.static_shared_bytes = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  record.local_bytes_per_thread = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  record.constant_bytes = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  record.max_threads_per_block = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  record.shared_carveout_percent = attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  record.binary_version = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION));
  return record;
}

capture::Dim3 compiled_cluster(const Driver& driver, CUfunction function) noexcept {
  function = function_behind(driver, function);
  const auto blocks = [&](CUfunction_attribute dimension) {
    int value = 0;  // stays so where the driver knows no clusters
    (void)driver.cuFuncGetAttribute(&value, dimension, function);
    return static_cast<std::uint32_t>(std::max(value, 1));
  };
  return {blocks(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), blocks(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
          blocks(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
}

CurrentContext::CurrentContext(const Driver& driver, CUcontext context) : driver_(driver) {
  CUcontext current = nullptr;
  if (driver_.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context) return;
  check(driver_, driver_.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  pushed_ = true;
}

CurrentContext::~CurrentContext() {
  CUcontext popped = nullptr;
  if (pushed_) (void)driver_.cuCtxPopCurrent(&popped);
}

}  // namespace dlkprof::cupti
