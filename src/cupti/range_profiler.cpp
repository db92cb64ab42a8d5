#include "cupti/range_profiler.h"

#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {

void initialize_profiler(const Library& library) {
  library.load_nvperf();
  auto params = DLKPROF_PARAMS(CUpti_Profiler_Initialize_Params);
  DLKPROF_CUPTI(library, cuptiProfilerInitialize, &params);
}

std::vector<std::uint8_t> counter_availability(const Library& library, CUcontext context) {
  auto params = DLKPROF_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  params.ctx = context;
  DLKPROF_CUPTI(library, cuptiProfilerGetCounterAvailability, &params);
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  DLKPROF_CUPTI(library, cuptiProfilerGetCounterAvailability, &params);
  return image;
}

std::string chip_name(const Library& library, std::uint32_t device) {
  auto params = DLKPROF_PARAMS(CUpti_Device_GetChipName_Params);
  params.deviceIndex = device;
  DLKPROF_CUPTI(library, cuptiDeviceGetChipName, &params);
  return params.pChipName;
}

RangeProfiler RangeProfiler::create(const Library& library, CUcontext context) {
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_Enable_Params);
  params.ctx = context;
  DLKPROF_CUPTI(library, cuptiRangeProfilerEnable, &params);
  return {library, params.pRangeProfilerObject};
}

RangeProfiler::RangeProfiler(RangeProfiler&& other) noexcept
    : library_(other.library_), object_(std::exchange(other.object_, nullptr)), image_(std::move(other.image_)) {}

RangeProfiler::~RangeProfiler() {
  if (object_ == nullptr) return;
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_Disable_Params);
  params.pRangeProfilerObject = object_;
  (void)library_->cuptiRangeProfilerDisable(&params);
}

std::size_t RangeProfiler::image_bytes(std::span<const std::string> metrics, std::size_t launches) {
  std::vector<const char*> names;
  for (const auto& metric : metrics) names.push_back(metric.c_str());
  auto size = DLKPROF_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = launches;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(launches);
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerGetCounterDataSize, &size);
  return size.counterDataSize;
}

// CUPTI initializes images for what it was asked the size of last.
std::vector<std::uint8_t> RangeProfiler::empty_image(std::span<const std::string> metrics, std::size_t launches) {
  std::vector<std::uint8_t> image(image_bytes(metrics, launches));
  initialize(image);
  return image;
}

void RangeProfiler::configure(const CollectionPlan& plan, CUpti_ProfilerReplayMode mode) {
  image_ = empty_image(plan.metrics, 1);
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  params.pRangeProfilerObject = object_;
  params.configSize = plan.config_image.size();
  params.pConfig = plan.config_image.data();
  params.counterDataImageSize = image_.size();
  params.pCounterDataImage = image_.data();
  params.range = CUPTI_AutoRange;
  params.replayMode = mode;
  params.maxRangesPerPass = 1;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.targetNestingLevel = mode == CUPTI_KernelReplay ? 0 : 1;
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerSetConfig, &params);
}

void RangeProfiler::reset() { initialize(image_); }

void RangeProfiler::initialize(std::vector<std::uint8_t>& image) {
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  params.pRangeProfilerObject = object_;
  params.counterDataSize = image.size();
  params.pCounterData = image.data();
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerCounterDataImageInitialize, &params);
}

void RangeProfiler::start() {
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_Start_Params);
  params.pRangeProfilerObject = object_;
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerStart, &params);
}

bool RangeProfiler::stop() {
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_Stop_Params);
  params.pRangeProfilerObject = object_;
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerStop, &params);
  return params.isAllPassSubmitted != 0;
}

void RangeProfiler::decode() {
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
  params.pRangeProfilerObject = object_;
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerDecodeData, &params);
  require_ranges(*library_, image_, {1, 1}, params.numOfRangeDropped);
}

void require_ranges(const Library& library, std::span<const std::uint8_t> image, RangeCount expected, std::size_t dropped) {
  auto info = DLKPROF_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  DLKPROF_CUPTI(library, cuptiRangeProfilerGetCounterDataInfo, &info);
  if (info.numTotalRanges >= expected.least && info.numTotalRanges <= expected.most && dropped == 0) return;
  throw Error("the counters of a launch were not delivered",
              std::to_string(info.numTotalRanges) + " ranges, " + std::to_string(dropped) + " dropped, where " +
                  std::to_string(expected.least) + " were expected",
              "");
}

}  // namespace dlkprof::cupti
