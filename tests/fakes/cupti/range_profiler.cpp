// The target side of the range profiler: a launch at a time, with kernel replay and user replay.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>

#include "common/journal.h"
#include "cupti/real.h"

struct CUpti_RangeProfiler_Object {
  CUcontext context = nullptr;
  std::size_t passes = 0;  // of the configuration; 0: none was set
  CUpti_ProfilerReplayMode mode = CUPTI_KernelReplay;
  std::uint8_t* image = nullptr;
  bool started = false;
  pthread_t starter{};
  std::size_t pass = 0;          // that the next start … stop collects
  std::uint64_t collected = 0;   // a bit a pass, since the image was decoded
  std::size_t image_room = 0;    // what a size was asked for last, and images are initialized for
  std::vector<unsigned> ranges;  // of the pass that is going on: which recorded range each launch stands for
  std::vector<unsigned> first;   // of the first pass
  bool differs = false;          // some pass was over other launches
};

namespace fakes {
namespace {

using Profiler = CUpti_RangeProfiler_Object;

bool g_initialized = false;
std::atomic<int> g_open_ranges{0};
std::map<CUcontext, std::unique_ptr<Profiler>>& profilers() {
  static auto& instance = *new std::map<CUcontext, std::unique_ptr<Profiler>>;
  return instance;
}

// Null, and misuse, where `object` is none of ours or its context is not current.
Profiler* valid(Profiler* object, const char* function) {
  for (const auto& [context, profiler] : profilers()) {
    if (profiler.get() != object) continue;
    if (context != driver()->current_context()) {
      misuse(std::string(function) + " while another context is current");
      return nullptr;
    }
    return object;
  }
  misuse(std::string(function) + " of an object that is not enabled");
  return nullptr;
}

void collect_pass(Profiler& profiler) {
  if (profiler.collected == 0) profiler.first = profiler.ranges;
  profiler.differs = profiler.collected != 0 && (profiler.differs || profiler.ranges != profiler.first);
  if (profiler.mode == CUPTI_KernelReplay) profiler.collected = (1ULL << profiler.passes) - 1;
  profiler.collected |= 1ULL << profiler.pass;
}

}  // namespace

bool run_in_range(const KernelRun& run) {
  const std::lock_guard lock(state_mutex());
  const auto found = profilers().find(run.context);
  if (found == profilers().end() || !found->second->started) return false;
  auto& profiler = *found->second;
  if (pthread_equal(profiler.starter, pthread_self()) == 0)
    misuse(std::string(run.kernel->name) + " of another thread in a range");
  profiler.ranges.push_back(run.kernel->recorded_range);
  driver()->replay(run, profiler.mode == CUPTI_KernelReplay ? profiler.passes : 1);
  if (records_kernels())
    misuse(std::string(run.kernel->name) + " is recorded in a range, by instructions that count, and never completes");
  return true;
}

bool collects() { return g_open_ranges > 0; }

std::size_t passes_of(const std::uint8_t* config, std::size_t bytes) {
  CUpti_Profiler_Host_GetNumOfPasses_Params question{};
  question.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  question.configImageSize = bytes;
  question.pConfigImage = const_cast<std::uint8_t*>(config);
  return FAKE_REAL(cuptiProfilerHostGetNumOfPasses)(&question) == CUPTI_SUCCESS ? question.numOfPasses : 0;
}

bool counters_held(int device) {
  const auto is_there = [device](const auto& entry) { return driver()->device_of(entry.first) == device; };
  return std::any_of(profilers().begin(), profilers().end(), is_there) || has_session(device);
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
  FAKE_GPU_CALL(cuptiProfilerInitialize);
  const std::lock_guard lock(fakes::state_mutex());
  fakes::g_initialized = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerDeviceSupported);
  params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  params->architecture = params->sli = params->vGpu = params->confidentialCompute = params->cmp = params->wsl =
      CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  FAKE_GPU_CALL(cuptiProfilerGetCounterAvailability);
  const std::uint64_t magic = fakes::kFakeAvailabilityMagic;
  if (!fakes::g_initialized) fakes::misuse("cuptiProfilerGetCounterAvailability before cuptiProfilerInitialize");
  if (params->ctx == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  if (params->pCounterAvailabilityImage != nullptr) {
    if (params->counterAvailabilityImageSize < sizeof magic) return CUPTI_ERROR_INVALID_PARAMETER;
    std::memcpy(params->pCounterAvailabilityImage, &magic, sizeof magic);
  }
  params->counterAvailabilityImageSize = sizeof magic;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerEnable);
  (void)fakes::recording();  // which a program that changes its root could not open later; CUPTI has no such file
  const std::lock_guard lock(fakes::state_mutex());
  if (!fakes::g_initialized || params->ctx == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (fakes::counters_held(fakes::driver()->device_of(params->ctx))) {
    fakes::misuse("cuptiRangeProfilerEnable while a context has the counters of that GPU");
    return CUPTI_ERROR_HARDWARE_BUSY;
  }
  auto& profiler = fakes::profilers()[params->ctx];
  profiler = std::make_unique<CUpti_RangeProfiler_Object>();
  profiler->context = params->ctx;
  params->pRangeProfilerObject = profiler.get();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerDisable);
  const std::lock_guard lock(fakes::state_mutex());
  const auto erased = std::erase_if(fakes::profilers(), [&](const auto& entry) {
    const bool is_it = entry.second.get() == params->pRangeProfilerObject;
    if (is_it && entry.second->started) --fakes::g_open_ranges;
    return is_it;
  });
  if (erased == 0) fakes::misuse("cuptiRangeProfilerDisable of an object that is not enabled");
  if (fakes::driver()->capturing()) fakes::misuse("cuptiRangeProfilerDisable while a stream is recorded");
  return erased == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerGetCounterDataSize);
  const std::lock_guard lock(fakes::state_mutex());
  if (fakes::valid(params->pRangeProfilerObject, "cuptiRangeProfilerGetCounterDataSize") == nullptr) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  if (params->numMetrics == 0 || params->maxNumRangeTreeNodes < params->maxNumOfRanges) return CUPTI_ERROR_INVALID_PARAMETER;
  params->pRangeProfilerObject->image_room = params->maxNumOfRanges;
  params->counterDataSize = fakes::FakeImage::bytes(params->maxNumOfRanges);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerCounterDataImageInitialize);
  const std::lock_guard lock(fakes::state_mutex());
  const auto* profiler = fakes::valid(params->pRangeProfilerObject, "cuptiRangeProfilerCounterDataImageInitialize");
  if (profiler == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (params->counterDataSize < sizeof(fakes::FakeImage)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->counterDataSize != fakes::FakeImage::bytes(profiler->image_room)) {
    fakes::misuse("cuptiRangeProfilerCounterDataImageInitialize of another size than was asked for last");
  }
  const std::size_t room = (params->counterDataSize - sizeof(fakes::FakeImage)) / fakes::FakeImage::kRangeBytes;
  *reinterpret_cast<fakes::FakeImage*>(params->pCounterData) = fakes::FakeImage::empty(room);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerSetConfig);
  const std::lock_guard lock(fakes::state_mutex());
  auto* profiler = fakes::valid(params->pRangeProfilerObject, "cuptiRangeProfilerSetConfig");
  if (profiler == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (params->range != CUPTI_AutoRange || params->numNestingLevels != 1 || params->maxRangesPerPass != 1 ||
      fakes::as_fake_image(params->pCounterDataImage, params->counterDataImageSize) == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  // On real GPUs only the first configuration of an object has an effect, but for the image.
  if (profiler->passes != 0) fakes::misuse("cuptiRangeProfilerSetConfig twice");
  profiler->image = params->pCounterDataImage;
  profiler->passes = fakes::passes_of(params->pConfig, params->configSize);
  profiler->mode = params->replayMode;
  profiler->pass = params->passIndex;
  return profiler->pass < profiler->passes ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerStart);
  const std::lock_guard lock(fakes::state_mutex());
  auto* profiler = fakes::valid(params->pRangeProfilerObject, "cuptiRangeProfilerStart");
  if (profiler == nullptr || profiler->passes == 0) return CUPTI_ERROR_INVALID_OPERATION;
  if (profiler->started) {
    fakes::misuse("cuptiRangeProfilerStart twice");
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  if (fakes::driver()->capturing()) fakes::misuse("cuptiRangeProfilerStart while a stream is recorded");
  if (profiler->mode == CUPTI_UserReplay && !fakes::driver()->idle(profiler->context)) {
    fakes::misuse("cuptiRangeProfilerStart of a user replay while launches are under way");
  }
  profiler->started = true;
  ++fakes::g_open_ranges;
  profiler->starter = pthread_self();
  profiler->ranges.clear();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerStop);
  const std::lock_guard lock(fakes::state_mutex());
  auto* profiler = fakes::valid(params->pRangeProfilerObject, "cuptiRangeProfilerStop");
  if (profiler == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (!profiler->started) {
    fakes::misuse("cuptiRangeProfilerStop without a start");
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  profiler->started = false;
  --fakes::g_open_ranges;
  fakes::collect_pass(*profiler);
  const bool is_last = profiler->mode == CUPTI_KernelReplay || profiler->pass + 1 == profiler->passes;
  profiler->pass = is_last ? 0 : profiler->pass + 1;
  params->passIndex = profiler->pass;
  params->targetNestingLevel = 1;
  params->isAllPassSubmitted = is_last ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  FAKE_GPU_CALL(cuptiRangeProfilerDecodeData);
  const std::lock_guard lock(fakes::state_mutex());
  auto* profiler = fakes::valid(params->pRangeProfilerObject, "cuptiRangeProfilerDecodeData");
  if (profiler == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (profiler->started) fakes::misuse("cuptiRangeProfilerDecodeData between start and stop");
  if (profiler->differs) fakes::misuse("passes over launches that differ");
  auto* decoded = reinterpret_cast<fakes::FakeImage*>(profiler->image);
  decoded->has_device = 1;
  decoded->ranges = std::min<std::size_t>(profiler->ranges.size(), 1);
  decoded->plan_passes = profiler->passes;
  if (decoded->ranges == 1) decoded->put(0, {profiler->ranges[0], profiler->collected});
  params->numOfRangeDropped = profiler->ranges.size() - decoded->ranges;
  profiler->collected = 0;
  return CUPTI_SUCCESS;
}

}  // extern "C"
