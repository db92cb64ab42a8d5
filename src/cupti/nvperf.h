// NVPerf's host library, libnvperf_host beside libcupti, opened at run time: what CUPTI has no function for.
#pragma once

#include <nvperf_cuda_host.h>
#include <nvperf_host.h>

#include <fmt/format.h>

#include "base/error.h"
#include "cupti/library.h"

namespace dlkprof::cupti {

// Every NVPerf function that dlkprof cannot do without; drives the table below, its loading, and the failures that tests inject.
#define DLKPROF_NVPERF_FUNCTIONS(X)       \
  X(NVPW_InitializeHost)                  \
  X(NVPW_CounterDataCombiner_Create)      \
  X(NVPW_CounterDataCombiner_Destroy)     \
  X(NVPW_CounterDataCombiner_CreateRange) \
  X(NVPW_CounterDataCombiner_SumIntoRange)

// Those by which images are laid out, all of which older libraries may lack: null there (CounterImages says so).
#define DLKPROF_NVPERF_IMAGE_FUNCTIONS(X)   \
  X(NVPW_Config_GetRawCounters)             \
  X(NVPW_CUDA_CounterDataBuilder_Create)    \
  X(NVPW_CounterDataBuilder_Destroy)        \
  X(NVPW_CounterDataBuilder_AddRawCounters) \
  X(NVPW_CounterDataBuilder_GetCounterDataPrefix)

// Stays open for the life of the process, as CUPTI does.
class NvPerf {
 public:
  // That of `library`; throws Error where there is none, or a function is missing. A later call tries again.
  [[nodiscard]] static const NvPerf& open(const Library& library);

#define X(name) decltype(&::name) name = nullptr;
  DLKPROF_NVPERF_FUNCTIONS(X)
  DLKPROF_NVPERF_IMAGE_FUNCTIONS(X)
#undef X

 private:
  NvPerf() = default;
};

inline void check_nvperf(NVPA_Status status, const char* call) {
  if (status == NVPA_STATUS_SUCCESS) return;
  throw Error("an NVPerf call failed", fmt::format("{}: NVPA_Status {}", call, +status), "");
}
#define DLKPROF_NVPERF(nvperf, function, ...) ::dlkprof::cupti::check_nvperf((nvperf).function(__VA_ARGS__), #function)

}  // namespace dlkprof::cupti
