#include "cupti/counter_combiner.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstallWhole =
    "Install the whole of CUPTI: libnvperf_host.so belongs beside libcupti. Or measure what takes one pass: --set quick.";

void check_nvperf(NVPA_Status status, const char* call) {
  if (status == NVPA_STATUS_SUCCESS) return;
  throw Error("an NVPerf call failed", fmt::format("{}: NVPA_Status {}", call, +status), "");
}
#define DLKPROF_NVPERF(nvperf, function, ...) check_nvperf((nvperf).function(__VA_ARGS__), #function)

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
  auto params = DLKPROF_PARAMS(NVPW_InitializeHost_Params);
  DLKPROF_NVPERF(nvperf, NVPW_InitializeHost, &params);
  opened = new NvPerf(nvperf);
  return *opened;
}

void CounterCombiner::Destroy::operator()(NVPA_CounterDataCombiner* combiner) const noexcept {
  auto params = DLKPROF_PARAMS(NVPW_CounterDataCombiner_Destroy_Params);
  params.pCounterDataCombiner = combiner;
  (void)nvperf->NVPW_CounterDataCombiner_Destroy(&params);
}

CounterCombiner::CounterCombiner(const NvPerf& nvperf, std::vector<std::uint8_t> empty)
    : nvperf_(nvperf), image_(std::move(empty)), combiner_(nullptr, Destroy{&nvperf}) {
  auto create = DLKPROF_PARAMS(NVPW_CounterDataCombiner_Create_Params);
  create.pCounterDataDst = image_.data();
  DLKPROF_NVPERF(nvperf, NVPW_CounterDataCombiner_Create, &create);
  combiner_.reset(create.pCounterDataCombiner);
  auto range = DLKPROF_PARAMS(NVPW_CounterDataCombiner_CreateRange_Params);
  const char* const description = "0";
  range.pCounterDataCombiner = combiner_.get();
  range.numDescriptions = 1;
  range.ppDescriptions = &description;
  DLKPROF_NVPERF(nvperf, NVPW_CounterDataCombiner_CreateRange, &range);
  range_ = range.rangeIndexDst;
}

void CounterCombiner::add(std::span<const std::uint8_t> image, std::size_t range) {
  auto params = DLKPROF_PARAMS(NVPW_CounterDataCombiner_SumIntoRange_Params);
  params.pCounterDataCombiner = combiner_.get();
  params.rangeIndexDst = range_;
  params.pCounterDataSrc = image.data();
  params.rangeIndexSrc = range;
  DLKPROF_NVPERF(nvperf_, NVPW_CounterDataCombiner_SumIntoRange, &params);
}

}  // namespace dlkprof::cupti
