#include "cupti/machine.h"

#include <cuda.h>
#include <cupti_version.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cupti/library.h"
#include "cupti/range_profiler.h"

namespace dlkprof::cupti {
namespace {

constexpr const char* kDriverRemedy =
    "Install NVIDIA's driver; in a container start it with the NVIDIA runtime (docker run --gpus all). Reading captures needs "
    "none.";

// The few driver functions that looking at a machine takes.
struct DriverCalls {
  void* library = nullptr;

  template <typename Function>
  Function* find(const char* name) const {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) throw Error("the CUDA driver is not usable", fmt::format("{} is missing", name), kDriverRemedy);
    return reinterpret_cast<Function*>(symbol);
  }

  void check(CUresult result, const char* call) const {
    if (result == CUDA_SUCCESS) return;
    const char* name = nullptr;
    (void)find<decltype(cuGetErrorName)>("cuGetErrorName")(result, &name);
    throw Error("the CUDA driver is not usable", fmt::format("{}: {}", call, name == nullptr ? "unknown error" : name),
                kDriverRemedy);
  }
};

}  // namespace

bool has_profiler() noexcept { return true; }

void require_profiler() {}

std::string built_with() {
  return fmt::format("built with CUDA {}.{} and CUPTI {}", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10, CUPTI_API_VERSION);
}

const Library& open_library(const std::filesystem::path& asked) { return Library::open(asked); }

std::string words_of(const Library& library) {
  return fmt::format("version {}, {}", library.version(), printable(library.path().string()));
}

FoundDriver find_driver() {
  DriverCalls calls{dlopen("libcuda.so.1", RTLD_NOW)};
  if (calls.library == nullptr) throw Error("there is no CUDA driver", dlerror(), kDriverRemedy);
  calls.check(calls.find<decltype(cuInit)>("cuInit")(0), "cuInit");
  FoundDriver driver;
  calls.check(calls.find<decltype(cuDriverGetVersion)>("cuDriverGetVersion")(&driver.version), "cuDriverGetVersion");
  int count = 0;
  calls.check(calls.find<decltype(cuDeviceGetCount)>("cuDeviceGetCount")(&count), "cuDeviceGetCount");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    calls.check(calls.find<decltype(cuDeviceGet)>("cuDeviceGet")(&device, ordinal), "cuDeviceGet");
    std::array<char, 256> name{};
    calls.check(calls.find<decltype(cuDeviceGetName)>("cuDeviceGetName")(name.data(), static_cast<int>(name.size()) - 1, device),
                "cuDeviceGetName");
    driver.devices.emplace_back(name.data());
  }
  return driver;
}

std::string chip_of_device(std::size_t ordinal, const std::filesystem::path& cupti_path) {
  const Library& library = Library::open(cupti_path);
  initialize_profiler(library);
  return chip_name(library, static_cast<std::uint32_t>(ordinal));
}

}  // namespace dlkprof::cupti
