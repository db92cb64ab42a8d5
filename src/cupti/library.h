// CUPTI, opened at run time. The one place that knows where it is and which of its functions are called.
#pragma once

#include <cupti.h>
#include <cupti_checkpoint.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace dlkprof::cupti {

// Every CUPTI function that dlkprof calls; drives the table below, its loading, and the failures that tests inject.
#define DLKPROF_CUPTI_FUNCTIONS(X)                \
  X(cuptiGetVersion)                              \
  X(cuptiGetResultString)                         \
  X(cuptiSubscribe)                               \
  X(cuptiUnsubscribe)                             \
  X(cuptiFinalize)                                \
  X(cuptiEnableCallback)                          \
  X(cuptiGetCallbackName)                         \
  X(cuptiGetContextId)                            \
  X(cuptiGetStreamIdEx)                           \
  X(cuptiActivityRegisterTimestampCallback)       \
  X(cuptiActivityRegisterCallbacks)               \
  X(cuptiActivityEnable)                          \
  X(cuptiActivityDisable)                         \
  X(cuptiActivityFlushAll)                        \
  X(cuptiActivityFlushPeriod)                     \
  X(cuptiActivityGetNextRecord)                   \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostGetSupportedChips)           \
  X(cuptiProfilerHostGetBaseMetrics)              \
  X(cuptiProfilerHostGetSubMetrics)               \
  X(cuptiProfilerHostGetMetricProperties)         \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiPCSamplingEnable)                        \
  X(cuptiPCSamplingDisable)                       \
  X(cuptiPCSamplingSetConfigurationAttribute)     \
  X(cuptiPCSamplingGetData)                       \
  X(cuptiPCSamplingGetNumStallReasons)            \
  X(cuptiPCSamplingGetStallReasons)               \
  X(cuptiGetSassToSourceCorrelation)              \
  X(cuptiGetCubinCrc)

// Those of PM sampling, which the first libraries of CUDA 12.6 lack: null there (PmSampler::create says so).
#define DLKPROF_CUPTI_SAMPLING_FUNCTIONS(X)    \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingDisable)                    \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)

// Those of profiling sessions, which CUDA 13.0 calls deprecated: null where they are gone (ProfilingSession says so).
#define DLKPROF_CUPTI_SESSION_FUNCTIONS(X)                   \
  X(cuptiProfilerCounterDataImageCalculateSize)              \
  X(cuptiProfilerCounterDataImageInitialize)                 \
  X(cuptiProfilerCounterDataImageCalculateScratchBufferSize) \
  X(cuptiProfilerCounterDataImageInitializeScratchBuffer)    \
  X(cuptiProfilerBeginSession)                               \
  X(cuptiProfilerEndSession)                                 \
  X(cuptiProfilerSetConfig)                                  \
  X(cuptiProfilerUnsetConfig)                                \
  X(cuptiProfilerBeginPass)                                  \
  X(cuptiProfilerEndPass)                                    \
  X(cuptiProfilerEnableProfiling)                            \
  X(cuptiProfilerDisableProfiling)                           \
  X(cuptiProfilerFlushCounterData)

// Those that count instructions: null where they are gone (SassCounter says so).
#define DLKPROF_CUPTI_SASS_FUNCTIONS(X) \
  X(cuptiSassMetricsGetProperties)      \
  X(cuptiSassMetricsSetConfig)          \
  X(cuptiSassMetricsUnsetConfig)        \
  X(cuptiSassMetricsEnable)             \
  X(cuptiSassMetricsDisable)            \
  X(cuptiSassMetricsGetDataProperties)  \
  X(cuptiSassMetricsFlushData)

// Those that number CUDA graphs and their nodes: null in a library that has none.
#define DLKPROF_CUPTI_GRAPH_FUNCTIONS(X) \
  X(cuptiGetGraphId)                     \
  X(cuptiGetGraphExecId)                 \
  X(cuptiGetGraphNodeId)

// What cuptiGetVersion gives for CUDA 12.6, the first with the range profiler and its host side (cupti_version.h).
inline constexpr std::uint32_t kMinimumVersion = 24;

// Throws Error, naming `file`, where `version` is below kMinimumVersion.
void require_supported(std::uint32_t version, const std::filesystem::path& file);

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  DLKPROF_CUPTI_FUNCTIONS(X)
  DLKPROF_CUPTI_SAMPLING_FUNCTIONS(X)
  DLKPROF_CUPTI_SESSION_FUNCTIONS(X)
  DLKPROF_CUPTI_SASS_FUNCTIONS(X)
  DLKPROF_CUPTI_GRAPH_FUNCTIONS(X)
#undef X
};

// The host side of counters, on which CUPTI's own stands. Lies beside libcupti.
inline constexpr const char* kNvPerf = "libnvperf_host.so";

// Once opened it stays open for the life of the process: CUPTI cannot be unloaded safely.
class Library : public Functions {
 public:
  // The copy the process has already, else that of `asked` (a file, or a folder with one), else, where that is empty, of the
  // usual places (CUDA_HOME, /usr/local/cuda, the loader's path). Throws Error: none found, too old (before CUDA 12.6), or a
  // function is missing; a later call tries again. Opened once for the process, by whichever thread comes first; later calls
  // give the same, whatever they ask for.
  [[nodiscard]] static const Library& open(const std::filesystem::path& asked = {});
  // Exactly `file`: a path, or a name for the loader to find. What open() does with each candidate; throws Error.
  [[nodiscard]] static Library load(const std::filesystem::path& file);

  // Functions of one's own in place of a library's: of tests.
  [[nodiscard]] static Library from(const Functions& table);

  // Loads the NVPerf that lies beside this CUPTI, unless one is loaded. To be called right before the first call that needs it,
  // as it takes much memory: CUPTI of CUDA 13.0 asks for it by name alone, which the loader finds only where its cache or
  // LD_LIBRARY_PATH has the folder. Where there is none CUPTI's own search is left to go on.
  void load_nvperf() const noexcept;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }

 private:
  Library() = default;
  std::filesystem::path path_;
  std::uint32_t version_ = 0;
};

// Files to try for libcupti where the process has none, best first: what is `asked` for alone (a file or a toolkit's folder);
// where that is empty, those of the toolkits, and the loader's own search.
[[nodiscard]] std::vector<std::filesystem::path> library_candidates(const std::filesystem::path& asked);

// Throws Error for anything but CUPTI_SUCCESS: `call` and CUPTI's own words as the detail, and a remedy for those
// results that a user can do something about (permission, busy counters, unsupported GPU, ...).
void check(const Library& library, CUptiResult result, const char* call);

// The remedy for `result`, or "" where there is none to give.
[[nodiscard]] std::string remedy_for(CUptiResult result);

// Calls `library.function(arguments...)` and checks its result: DLKPROF_CUPTI(library, cuptiUnsubscribe, handle).
#define DLKPROF_CUPTI(library, function, ...) ::dlkprof::cupti::check((library), (library).function(__VA_ARGS__), #function)

// A CUPTI parameter struct with its size set and all else zero.
#define DLKPROF_PARAMS(type) ::dlkprof::cupti::sized<type>(type##_STRUCT_SIZE)
template <typename Params>
[[nodiscard]] Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

}  // namespace dlkprof::cupti
