// PM sampling of the fake GPUs: samples of what the activity of a GPU was, at the interval asked for and up to now.
#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>

#include "common/journal.h"
#include "cupti/real.h"

struct CUpti_PmSampling_Object {
  std::size_t device = 0;
  bool configured = false, started = false;
  std::uint64_t interval_ns = 0, room = 0;  // of samples in the hardware's buffer
  std::uint64_t from_ns = 0;                // the end of the last sample that was decoded
  std::uint64_t to_ns = 0;                  // when sampling stopped
  bool overflowed = false;
};

namespace fakes {
namespace {

using Sampler = CUpti_PmSampling_Object;
constexpr std::size_t kBytesASample = 8192;  // of the hardware's buffer

std::map<std::size_t, std::unique_ptr<Sampler>>& samplers() {
  static auto& instance = *new std::map<std::size_t, std::unique_ptr<Sampler>>;
  return instance;
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

Sampler* valid(Sampler* object, const char* function) {
  const bool known =
      std::any_of(samplers().begin(), samplers().end(), [&](const auto& one) { return one.second.get() == object; });
  if (!known) misuse(std::string(function) + " of an object that is not enabled");
  return known ? object : nullptr;
}

SampleImage* as_image(std::uint8_t* image, std::size_t size) {
  auto* sampled = reinterpret_cast<SampleImage*>(image);
  return size >= sizeof(SampleImage) && sampled->magic == kSampleImageMagic ? sampled : nullptr;
}

}  // namespace

const SampleImage* as_sample_image(const std::uint8_t* image, std::size_t size) {
  return as_image(const_cast<std::uint8_t*>(image), size);
}

}  // namespace fakes

using fakes::as_image;
using fakes::valid;

extern "C" {

CUptiResult cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  FAKE_GPU_CALL(cuptiPmSamplingGetCounterAvailability);
  const std::uint64_t magic = fakes::kFakeAvailabilityMagic;
  if (params->pCounterAvailabilityImage != nullptr) std::memcpy(params->pCounterAvailabilityImage, &magic, sizeof magic);
  params->counterAvailabilityImageSize = sizeof magic;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  FAKE_GPU_CALL(cuptiPmSamplingEnable);
  const std::lock_guard lock(fakes::state_mutex());
  auto& sampler = fakes::samplers()[params->deviceIndex];
  if (sampler != nullptr) {
    fakes::misuse("cuptiPmSamplingEnable of a GPU that is enabled");
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  sampler = std::make_unique<CUpti_PmSampling_Object>();
  sampler->device = params->deviceIndex;
  params->pPmSamplingObject = sampler.get();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  FAKE_GPU_CALL(cuptiPmSamplingDisable);
  const std::lock_guard lock(fakes::state_mutex());
  const auto* sampler = valid(params->pPmSamplingObject, "cuptiPmSamplingDisable");
  if (sampler == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  fakes::samplers().erase(sampler->device);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  FAKE_GPU_CALL(cuptiPmSamplingSetConfig);
  const std::lock_guard lock(fakes::state_mutex());
  auto* sampler = valid(params->pPmSamplingObject, "cuptiPmSamplingSetConfig");
  if (sampler == nullptr || sampler->started) return CUPTI_ERROR_INVALID_OPERATION;
  if (fakes::passes_of(params->pConfig, params->configSize) != 1) return CUPTI_ERROR_NOT_SUPPORTED;
  if (params->triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL || params->samplingInterval == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  sampler->configured = true;
  sampler->interval_ns = params->samplingInterval;
  sampler->room = params->hardwareBufferSize / fakes::kBytesASample;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  FAKE_LASTING_CALL(cuptiPmSamplingStart);
  const std::lock_guard lock(fakes::state_mutex());
  auto* sampler = valid(params->pPmSamplingObject, "cuptiPmSamplingStart");
  if (sampler == nullptr || !sampler->configured || sampler->started) return CUPTI_ERROR_INVALID_OPERATION;
  if (sampler->overflowed) return CUPTI_ERROR_UNKNOWN;  // as the real one, once its buffer was full
  sampler->started = true;
  sampler->from_ns = fakes::now_ns();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  FAKE_LASTING_CALL(cuptiPmSamplingStop);
  const std::lock_guard lock(fakes::state_mutex());
  auto* sampler = valid(params->pPmSamplingObject, "cuptiPmSamplingStop");
  if (sampler == nullptr || !sampler->started) return CUPTI_ERROR_INVALID_OPERATION;
  sampler->started = false;
  sampler->to_ns = fakes::now_ns();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  FAKE_GPU_CALL(cuptiPmSamplingGetCounterDataSize);
  const std::lock_guard lock(fakes::state_mutex());
  if (valid(params->pPmSamplingObject, "cuptiPmSamplingGetCounterDataSize") == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  params->counterDataSize = sizeof(fakes::SampleImage) + params->maxSamples * sizeof(fakes::SampleImage::Sample);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  FAKE_LASTING_CALL(cuptiPmSamplingCounterDataImageInitialize);
  const std::lock_guard lock(fakes::state_mutex());
  if (valid(params->pPmSamplingObject, "cuptiPmSamplingCounterDataImageInitialize") == nullptr) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  if (params->counterDataSize < sizeof(fakes::SampleImage)) return CUPTI_ERROR_INVALID_PARAMETER;
  *reinterpret_cast<fakes::SampleImage*>(params->pCounterData) = {
      fakes::kSampleImageMagic, 0, (params->counterDataSize - sizeof(fakes::SampleImage)) / sizeof(fakes::SampleImage::Sample)};
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  FAKE_LASTING_CALL(cuptiPmSamplingDecodeData);
  const std::lock_guard lock(fakes::state_mutex());
  auto* sampler = valid(params->pPmSamplingObject, "cuptiPmSamplingDecodeData");
  auto* image = as_image(params->pCounterDataImage, params->counterDataImageSize);
  if (sampler == nullptr || image == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::uint64_t until = sampler->started ? fakes::now_ns() : sampler->to_ns;
  if (until > sampler->from_ns && (until - sampler->from_ns) / sampler->interval_ns > sampler->room) {
    sampler->overflowed = true;
    return CUPTI_ERROR_OUT_OF_MEMORY;
  }
  for (; image->count < image->room && sampler->from_ns + sampler->interval_ns <= until;
       sampler->from_ns += sampler->interval_ns) {
    const std::uint64_t end = sampler->from_ns + sampler->interval_ns;
    if (fakes::shared_at(static_cast<int>(sampler->device), sampler->from_ns, end)) continue;  // recordings cannot be mixed
    const auto recorded = fakes::recorded_at(static_cast<int>(sampler->device), sampler->from_ns, end);
    image->samples()[image->count++] = {sampler->from_ns, end, recorded.value_or(0)};
  }
  params->decodeStopReason = image->count == image->room ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                                         : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  params->overflow = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  FAKE_CALL(cuptiPmSamplingGetCounterDataInfo);
  const auto* image = fakes::as_sample_image(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalSamples = image->room;
  params->numPopulatedSamples = params->numCompletedSamples = image->count;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  FAKE_CALL(cuptiPmSamplingCounterDataGetSampleInfo);
  const auto* image = fakes::as_sample_image(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr || params->sampleIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto& sample = const_cast<fakes::SampleImage*>(image)->samples()[params->sampleIndex];
  params->startTimestamp = sample.start_ns;
  params->endTimestamp = sample.end_ns;
  return CUPTI_SUCCESS;
}

}  // extern "C"
