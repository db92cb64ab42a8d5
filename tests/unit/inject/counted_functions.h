// Tables of CUPTI's and the driver's functions that succeed and do nothing but be counted: what a collector calls, and how often,
// without a GPU. A few give what their callers cannot do without.
#pragma once

#include <cupti.h>

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "cupti/driver.h"
#include "cupti/library.h"

namespace dlkprof::inject::counted {

struct State {
  std::map<std::string, int> calls;
  std::set<std::string> failing;  // with CUPTI_ERROR_UNKNOWN
  std::size_t passes = 1;         // of a plan
  std::size_t ranges = 0;         // that a decoded image has
  std::size_t used_bytes = 0, free_bytes = 100'000'000'000;
  int devices = 1;                        // whose primary contexts are in use
  int queries_till_done = 0;              // of an event of a context
  std::chrono::milliseconds planning{0};  // that it takes
};
inline State& state() {
  static State the_state;
  return the_state;
}
// The evaluator calls on a thread of its own.
inline std::mutex& calls_mutex() {
  static std::mutex the_mutex;
  return the_mutex;
}
inline bool fails(const char* name) {
  const std::lock_guard lock(calls_mutex());
  ++state().calls[name];
  return state().failing.contains(name);
}

template <typename Name, typename Result, typename... Arguments>
Result call(Arguments...) {
  return fails(Name::name()) ? static_cast<Result>(999) : Result{};
}
template <typename Name, typename Result, typename... Arguments>
auto function_like(Result (*)(Arguments...)) {
  return &call<Name, Result, Arguments...>;
}

inline CUptiResult give_size(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = 64 * params->maxNumOfRanges;
  return CUPTI_SUCCESS;
}
inline CUptiResult give_profiler(CUpti_RangeProfiler_Enable_Params* params) {
  params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&state());
  return fails("cuptiRangeProfilerEnable") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}
inline CUptiResult give_passes(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  std::this_thread::sleep_for(state().planning);
  params->numOfPasses = state().passes;
  return fails("cuptiProfilerHostGetNumOfPasses") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}
inline CUptiResult give_ranges(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  params->numTotalRanges = state().ranges;
  return CUPTI_SUCCESS;
}
inline CUptiResult all_passes(CUpti_RangeProfiler_Stop_Params* params) {
  params->isAllPassSubmitted = 1;
  return fails("cuptiRangeProfilerStop") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}
// One instruction of a function, that ran five times.
inline CUptiResult give_sass_size(CUpti_SassMetricsGetDataProperties_Params* params) {
  params->numOfPatchedInstructionRecords = params->numOfInstances = 1;
  return CUPTI_SUCCESS;
}
inline CUptiResult give_sass(CUpti_SassMetricsFlushData_Params* params) {
  params->pMetricsData->functionName = "kernel";
  params->pMetricsData->pInstanceValues[0] = {0, 5};
  return fails("cuptiSassMetricsFlushData") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}
inline CUresult give_memory(std::size_t* free, std::size_t* total) {
  *free = state().free_bytes;
  *total = state().free_bytes + state().used_bytes;
  return CUDA_SUCCESS;
}

inline CUresult give_devices(int* devices) {
  *devices = state().devices;
  return CUDA_SUCCESS;
}
inline CUresult give_device(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
inline CUresult in_use(CUdevice /*device*/, unsigned* /*flags*/, int* active) {
  *active = 1;
  return CUDA_SUCCESS;
}

inline CUresult is_event_done(CUevent /*event*/) {
  if (fails("cuEventQuery")) return CUDA_ERROR_UNKNOWN;
  return state().queries_till_done-- > 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

// One type for each function, by which its calls are told apart.
#define X(function)                                          \
  struct Name_##function {                                   \
    static const char* name() noexcept { return #function; } \
  };
DLKPROF_CUPTI_FUNCTIONS(X)
DLKPROF_CUPTI_SAMPLING_FUNCTIONS(X)
DLKPROF_CUPTI_SESSION_FUNCTIONS(X)
DLKPROF_CUPTI_SASS_FUNCTIONS(X)
DLKPROF_CUPTI_GRAPH_FUNCTIONS(X)
#undef X
#define X(function, symbol, type)                            \
  struct Name_##function {                                   \
    static const char* name() noexcept { return #function; } \
  };
DLKPROF_DRIVER_FUNCTIONS(X)
#undef X

inline cupti::Library library() {
  cupti::Functions table;
#define X(name) table.name = function_like<Name_##name>(decltype(&::name){});
  DLKPROF_CUPTI_FUNCTIONS(X)
  DLKPROF_CUPTI_SAMPLING_FUNCTIONS(X)
  DLKPROF_CUPTI_SESSION_FUNCTIONS(X)
  DLKPROF_CUPTI_SASS_FUNCTIONS(X)
  DLKPROF_CUPTI_GRAPH_FUNCTIONS(X)
#undef X
  table.cuptiRangeProfilerEnable = give_profiler;
  table.cuptiRangeProfilerGetCounterDataSize = give_size;
  table.cuptiProfilerHostGetNumOfPasses = give_passes;
  table.cuptiRangeProfilerGetCounterDataInfo = give_ranges;
  table.cuptiRangeProfilerStop = all_passes;
  table.cuptiSassMetricsGetDataProperties = give_sass_size;
  table.cuptiSassMetricsFlushData = give_sass;
  return cupti::Library::from(table);
}

inline cupti::Driver driver() {
  cupti::DriverFunctions table;
#define X(name, symbol, type) table.name = function_like<Name_##name>(decltype(&type){});
  DLKPROF_DRIVER_FUNCTIONS(X)
#undef X
  table.cuMemGetInfo = give_memory;
  table.cuDeviceGetCount = give_devices;
  table.cuCtxGetDevice = give_device;
  table.cuDevicePrimaryCtxGetState = in_use;
  table.cuEventQuery = is_event_done;
  return cupti::Driver(table);
}

}  // namespace dlkprof::inject::counted
