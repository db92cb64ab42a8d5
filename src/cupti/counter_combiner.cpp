#include "cupti/counter_combiner.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

constexpr const char* kNvPerf = "libnvperf_host.so";
constexpr const char* kInstallWhole =
    "Install the whole of CUPTI: libnvperf_host.so belongs beside libcupti. Or measure what takes one pass: --set quick.";

void check_nvperf(NVPA_Status status, const char* call) {
  if (status == NVPA_STATUS_SUCCESS) return;
  throw Error("an NVPerf call failed", fmt::format("{}: NVPA_Status {}", call, +status), "");
}
#define DLKPROF_NVPERF(nvperf, function, ...) check_nvperf((nvperf).function(__VA_ARGS__), #function)

// Beside the CUPTI in use, which has it loaded from there; where CUPTI found it elsewhere, that copy.
void* open_nvperf(const Library& library) {
  const auto beside = library.path().parent_path() / kNvPerf;
  if (void* handle = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
  if (void* handle = dlopen(kNvPerf, RTLD_NOW | RTLD_NOLOAD); handle != nullptr) return handle;
  if (void* handle = dlopen(kNvPerf, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
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
