#include "cupti/nvperf.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <mutex>

namespace dlkprof::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstallWhole =
    "Install the whole of CUPTI: libnvperf_host.so belongs beside libcupti. Or measure what takes one pass: --set quick.";

struct LoadedNvPerf {
  fs::path folder;  // of the CUPTI in use
  fs::path found;
};

int look_for_nvperf(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& loaded = *static_cast<LoadedNvPerf*>(data);
  const fs::path file = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (!file.filename().native().starts_with(kNvPerf)) return 0;
  const bool is_beside = file.parent_path() == loaded.folder;
  if (is_beside || loaded.found.empty()) loaded.found = file;
  return is_beside ? 1 : 0;
}

// The one that CUPTI has loaded, which need not lie beside it: CUPTI asks for it by name. A second one would take 100 MB more,
// as each fills tables of its own. Where none is loaded nor lies there, whichever the loader finds.
void* open_nvperf(const Library& library) {
  library.load_nvperf();
  LoadedNvPerf loaded{.folder = library.path().parent_path(), .found = {}};
  dl_iterate_phdr(look_for_nvperf, &loaded);
  for (const fs::path& file : {loaded.found, fs::path(kNvPerf)}) {
    if (file.empty()) continue;
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
  }
  const char* words = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
  throw Error("NVPerf was not found, which puts together what several passes count", words == nullptr ? "" : words,
              kInstallWhole);
}

template <typename Function>
Function nvperf_symbol(void* handle, const char* name) {
  if (void* address = dlsym(handle, name); address != nullptr) return reinterpret_cast<Function>(address);
  throw Error("libnvperf_host.so is none that dlkprof can use", fmt::format("it has no {}", name), kInstallWhole);
}

}  // namespace

const NvPerf& NvPerf::open(const Library& library) {
  static std::mutex mutex;
  static const NvPerf* opened = nullptr;  // never freed, as the library stays open
  const std::scoped_lock lock(mutex);
  if (opened != nullptr) return *opened;
  void* handle = open_nvperf(library);
  NvPerf nvperf;
#define X(name) nvperf.name = nvperf_symbol<decltype(&::name)>(handle, #name);
  DLKPROF_NVPERF_FUNCTIONS(X)
#undef X
#define X(name) nvperf.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));
  DLKPROF_NVPERF_IMAGE_FUNCTIONS(X)
#undef X
  auto params = DLKPROF_PARAMS(NVPW_InitializeHost_Params);
  DLKPROF_NVPERF(nvperf, NVPW_InitializeHost, &params);
  opened = new NvPerf(nvperf);
  return *opened;
}

}  // namespace dlkprof::cupti
