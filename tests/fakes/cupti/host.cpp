// The host side: the real library's, which needs no GPU; but for images that the fake has made.
#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/journal.h"
#include "cupti/real.h"

namespace fakes {
namespace {

CUpti_Profiler_Host_Object* range_host() {
  static CUpti_Profiler_Host_Object* const object = [] {
    CUpti_Profiler_Host_Initialize_Params params{};
    params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = "GH100";
    return FAKE_REAL(cuptiProfilerHostInitialize)(&params) == CUPTI_SUCCESS ? params.pHostObject : nullptr;
  }();
  return object;
}

// Counters of a metric lie in two passes of its plan, or in one: those of its name.
std::uint64_t passes_of(const std::string& metric, std::uint64_t plan_passes) {
  const std::uint64_t hash = std::hash<std::string>{}(metric);
  return (1ULL << hash % plan_passes) | (1ULL << hash / plan_passes % plan_passes);
}

std::map<CUpti_Profiler_Host_Object*, bool>& hosts_with_device() {
  static auto& instance = *new std::map<CUpti_Profiler_Host_Object*, bool>;
  return instance;
}

// Metrics that lack a pass are no numbers.
void blank_what_lacks_passes(const FakeImage& image, const CUpti_Profiler_Host_EvaluateToGpuValues_Params& params) {
  const std::uint64_t collected = image.at(params.rangeIndex).passes;
  for (std::size_t metric = 0; metric < params.numMetrics; ++metric) {
    if ((passes_of(params.ppMetricNames[metric], image.plan_passes) & ~collected) != 0)
      params.pMetricValues[metric] = std::nan("");
  }
}

// The real one takes what it knows of the GPU from the first image that it evaluates, and never looks again: where that is one
// that ranges were only added up in, all metrics but times are no number from then on.
void blank_without_device(const FakeImage& image, const CUpti_Profiler_Host_EvaluateToGpuValues_Params& params) {
  {
    const std::lock_guard lock(state_mutex());
    if (hosts_with_device().try_emplace(params.pHostObject, image.has_device != 0).first->second) return;
  }
  for (std::size_t metric = 0; metric < params.numMetrics; ++metric) {
    if (std::strcmp(params.ppMetricNames[metric], "gpu__time_duration.sum") != 0) params.pMetricValues[metric] = std::nan("");
  }
}

// The real library loads its NVPerf too. Its soname is another than that of the real CUPTI's, which is here as well.
[[gnu::constructor]] void load_nvperf() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&load_nvperf), &self) == 0) return;
  (void)dlopen(std::filesystem::path(self.dli_fname).replace_filename("libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::atomic<int> g_hosts{0};

std::set<CUpti_Profiler_Host_Object*>& hosts_of_sass() {
  static auto& instance = *new std::set<CUpti_Profiler_Host_Object*>;
  return instance;
}
std::set<std::vector<std::uint8_t>>& configs_of_sass() {
  static auto& instance = *new std::set<std::vector<std::uint8_t>>;
  return instance;
}

// A child that evaluates may not open a file any more.
void read_recording_before_fork() {
  static const int registered = pthread_atfork(
      [] {
        if (g_hosts > 0) (void)recording();
      },
      nullptr, nullptr);
  (void)registered;
}

}  // namespace

bool patches_code(const std::uint8_t* config, std::size_t bytes) { return configs_of_sass().contains({config, config + bytes}); }

}  // namespace fakes

#define FAKE_FORWARD(function, Params)   \
  CUptiResult function(Params* params) { \
    FAKE_CALL(function);                 \
    return FAKE_REAL(function)(params);  \
  }

extern "C" {

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  FAKE_CALL(cuptiProfilerHostInitialize);
  auto real = *params;
  // The availability image of the fake GPU says that everything is there, which null says too.
  if (real.pCounterAvailabilityImage != nullptr) {
    std::uint64_t magic = 0;
    std::memcpy(&magic, real.pCounterAvailabilityImage, sizeof magic);
    if (magic == fakes::kFakeAvailabilityMagic) real.pCounterAvailabilityImage = nullptr;
  }
  const auto result = FAKE_REAL(cuptiProfilerHostInitialize)(&real);
  params->pHostObject = real.pHostObject;
  ++fakes::g_hosts;
  fakes::read_recording_before_fork();
  return result;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  FAKE_CALL(cuptiProfilerHostDeinitialize);
  --fakes::g_hosts;
  {
    const std::lock_guard lock(fakes::state_mutex());
    fakes::hosts_of_sass().erase(params->pHostObject);
    fakes::hosts_with_device().erase(params->pHostObject);
  }
  return FAKE_REAL(cuptiProfilerHostDeinitialize)(params);
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  FAKE_CALL(cuptiGetCallbackName);
  return FAKE_REAL(cuptiGetCallbackName)(domain, id, name);
}

FAKE_FORWARD(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params)
FAKE_FORWARD(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params)
FAKE_FORWARD(cuptiProfilerHostGetSubMetrics, CUpti_Profiler_Host_GetSubMetrics_Params)
FAKE_FORWARD(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params)
FAKE_FORWARD(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)
FAKE_FORWARD(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params)

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  FAKE_CALL(cuptiProfilerHostConfigAddMetrics);
  const auto is_of_sass = [](const char* metric) { return std::strstr(metric, "__sass_") != nullptr; };
  if (std::any_of(params->ppMetricNames, params->ppMetricNames + params->numMetrics, is_of_sass)) {
    const std::lock_guard lock(fakes::state_mutex());
    fakes::hosts_of_sass().insert(params->pHostObject);
  }
  return FAKE_REAL(cuptiProfilerHostConfigAddMetrics)(params);
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  FAKE_CALL(cuptiProfilerHostGetConfigImage);
  const auto result = FAKE_REAL(cuptiProfilerHostGetConfigImage)(params);
  const std::lock_guard lock(fakes::state_mutex());
  if (result == CUPTI_SUCCESS && fakes::hosts_of_sass().contains(params->pHostObject)) {
    fakes::configs_of_sass().emplace(params->pConfigImage, params->pConfigImage + params->configImageSize);
  }
  return result;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  FAKE_CALL(cuptiProfilerHostEvaluateToGpuValues);
  auto real = *params;
  if (const auto* fake = fakes::as_fake_image(params->pCounterDataImage, params->counterDataImageSize)) {
    if (params->rangeIndex >= fake->ranges) {
      fakes::misuse("a range is evaluated that was not measured");
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    real.pCounterDataImage = fakes::recording().data();
    real.counterDataImageSize = fakes::recording().size();
    real.rangeIndex = fake->at(params->rangeIndex).recorded;
    const auto result = FAKE_REAL(cuptiProfilerHostEvaluateToGpuValues)(&real);
    if (result == CUPTI_SUCCESS) {
      fakes::blank_what_lacks_passes(*fake, *params);
      fakes::blank_without_device(*fake, *params);
    }
    return result;
  }
  if (const auto* sampled = fakes::as_sample_image(params->pCounterDataImage, params->counterDataImageSize)) {
    if (params->rangeIndex >= sampled->count) {
      fakes::misuse("a sample is evaluated that was not taken");
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    real.pCounterDataImage = fakes::recording().data();
    real.counterDataImageSize = fakes::recording().size();
    real.rangeIndex = const_cast<fakes::SampleImage*>(sampled)->samples()[params->rangeIndex].recorded;
    real.pHostObject = fakes::range_host();  // the recording is one of ranges
  }
  return FAKE_REAL(cuptiProfilerHostEvaluateToGpuValues)(&real);
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  FAKE_CALL(cuptiRangeProfilerGetCounterDataInfo);
  const auto* fake = fakes::as_fake_image(params->pCounterDataImage, params->counterDataImageSize);
  if (fake == nullptr) return FAKE_REAL(cuptiRangeProfilerGetCounterDataInfo)(params);
  params->numTotalRanges = fake->ranges;
  return CUPTI_SUCCESS;
}

}  // extern "C"
