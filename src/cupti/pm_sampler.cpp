#include "cupti/pm_sampler.h"

#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

// All or none of them are there.
void require_sampling(const Library& library) {
  if (library.cuptiPmSamplingEnable != nullptr && library.cuptiPmSamplingCounterDataGetSampleInfo != nullptr) return;
  throw Error("this CUPTI cannot sample counters", library.path().string() + " has no cuptiPmSamplingEnable",
              "Use a newer one: set CUDA_HOME to the folder of a CUDA Toolkit from 12.8 on.");
}

}  // namespace

std::vector<std::uint8_t> sampling_availability(const Library& library, std::uint32_t device) {
  require_sampling(library);
  auto params = DLKPROF_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params);
  params.deviceIndex = device;
  DLKPROF_CUPTI(library, cuptiPmSamplingGetCounterAvailability, &params);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  DLKPROF_CUPTI(library, cuptiPmSamplingGetCounterAvailability, &params);
  return image;
}

PmSampler PmSampler::create(const Library& library, std::uint32_t device) {
  require_sampling(library);
  auto params = DLKPROF_PARAMS(CUpti_PmSampling_Enable_Params);
  params.deviceIndex = device;
  DLKPROF_CUPTI(library, cuptiPmSamplingEnable, &params);
  return {library, params.pPmSamplingObject};
}

PmSampler::PmSampler(PmSampler&& other) noexcept
    : library_(other.library_), object_(std::exchange(other.object_, nullptr)), image_(std::move(other.image_)) {}

PmSampler::~PmSampler() {
  if (object_ == nullptr) return;
  auto params = DLKPROF_PARAMS(CUpti_PmSampling_Disable_Params);
  params.pPmSamplingObject = object_;
  (void)library_->cuptiPmSamplingDisable(&params);
}

void PmSampler::configure(const CollectionPlan& plan, const Settings& settings) {
  auto config = DLKPROF_PARAMS(CUpti_PmSampling_SetConfig_Params);
  config.pPmSamplingObject = object_;
  config.configSize = plan.config_image.size();
  config.pConfig = plan.config_image.data();
  config.hardwareBufferSize = settings.hardware_bytes;
  config.samplingInterval = settings.interval_ns;
  config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  DLKPROF_CUPTI(*library_, cuptiPmSamplingSetConfig, &config);

  std::vector<const char*> names;
  for (const auto& metric : plan.metrics) names.push_back(metric.c_str());
  auto size = DLKPROF_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params);
  size.pPmSamplingObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxSamples = settings.most_samples;
  DLKPROF_CUPTI(*library_, cuptiPmSamplingGetCounterDataSize, &size);
  image_ = std::make_unique<std::vector<std::uint8_t>>(size.counterDataSize);
}

void PmSampler::start() {
  auto params = DLKPROF_PARAMS(CUpti_PmSampling_Start_Params);
  params.pPmSamplingObject = object_;
  DLKPROF_CUPTI(*library_, cuptiPmSamplingStart, &params);
}

void PmSampler::stop() {
  auto params = DLKPROF_PARAMS(CUpti_PmSampling_Stop_Params);
  params.pPmSamplingObject = object_;
  DLKPROF_CUPTI(*library_, cuptiPmSamplingStop, &params);
}

PmSampler::Decoded PmSampler::decode() {
  auto clean = DLKPROF_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params);
  clean.pPmSamplingObject = object_;
  clean.counterDataSize = image_->size();
  clean.pCounterData = image_->data();
  DLKPROF_CUPTI(*library_, cuptiPmSamplingCounterDataImageInitialize, &clean);

  auto params = DLKPROF_PARAMS(CUpti_PmSampling_DecodeData_Params);
  params.pPmSamplingObject = object_;
  params.pCounterDataImage = image_->data();
  params.counterDataImageSize = image_->size();
  const CUptiResult result = library_->cuptiPmSamplingDecodeData(&params);
  // So CUPTI says that the hardware's buffer overflowed (cupti_pmsampling.h).
  if (result == CUPTI_ERROR_OUT_OF_MEMORY) return {.overflow = true};
  check(*library_, result, "cuptiPmSamplingDecodeData");

  auto info = DLKPROF_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params);
  info.pCounterDataImage = image_->data();
  info.counterDataImageSize = image_->size();
  DLKPROF_CUPTI(*library_, cuptiPmSamplingGetCounterDataInfo, &info);
  return {.samples = info.numCompletedSamples,
          .image_full = params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL,
          .overflow = params.overflow != 0};
}

PmSampler::Interval PmSampler::interval(std::size_t sample) const {
  auto params = DLKPROF_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params);
  params.pPmSamplingObject = object_;
  params.pCounterDataImage = image_->data();
  params.counterDataImageSize = image_->size();
  params.sampleIndex = sample;
  DLKPROF_CUPTI(*library_, cuptiPmSamplingCounterDataGetSampleInfo, &params);
  return {params.startTimestamp, params.endTimestamp};
}

}  // namespace dlkprof::cupti
