#include "cupti/range_profiler.h"

#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {

void initialize_profiler(const Library& library) {
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
    : library_(other.library_),
      object_(std::exchange(other.object_, nullptr)),
      images_(std::move(other.images_)),
      use_(other.use_),
      next_pass_(other.next_pass_),
      sized_for_(other.sized_for_),
      image_(std::move(other.image_)) {}

RangeProfiler::~RangeProfiler() {
  if (object_ == nullptr) return;
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_Disable_Params);
  params.pRangeProfilerObject = object_;
  (void)library_->cuptiRangeProfilerDisable(&params);
}

std::size_t RangeProfiler::image_bytes(const CollectionPlan& plan, std::size_t launches) {
  sized_for_ = {&plan, launches};
  std::vector<const char*> names;
  for (const auto& metric : plan.metrics) names.push_back(metric.c_str());
  auto size = DLKPROF_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = launches;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(launches);
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerGetCounterDataSize, &size);
  return size.counterDataSize;
}

std::vector<std::uint8_t> RangeProfiler::empty_image(const CollectionPlan& plan) {
  const Use use{&plan, 1};
  std::vector<std::uint8_t> image(image_bytes(plan, use.launches));
  initialize(use, image);
  return image;
}

// One that nobody reads any more, or a new one.
void RangeProfiler::take_free_image(const Use& use) {
  image_.reset();
  use_ = use;
  for (const UsedImage& held : images_) {
    if (held.use == use && held.bytes.use_count() == 1) image_ = held.bytes;
  }
  if (image_ != nullptr) return;
  image_ = std::make_shared<std::vector<std::uint8_t>>(image_bytes(*use.plan, use.launches));
  images_.push_back({use, image_});
}

void RangeProfiler::configure(const CollectionPlan& plan, CUpti_ProfilerReplayMode mode, std::size_t launches, std::size_t pass) {
  take_free_image({&plan, launches});
  reset();

  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  params.pRangeProfilerObject = object_;
  params.configSize = plan.config_image.size();
  params.pConfig = plan.config_image.data();
  params.counterDataImageSize = image_->size();
  params.pCounterDataImage = image_->data();
  params.range = CUPTI_AutoRange;
  params.replayMode = mode;
  params.maxRangesPerPass = launches;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = pass;
  params.targetNestingLevel = mode == CUPTI_KernelReplay ? 0 : 1;
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerSetConfig, &params);
}

void RangeProfiler::reset() { initialize(use_, *image_); }

void RangeProfiler::initialize(const Use& use, std::vector<std::uint8_t>& image) {
  if (sized_for_ != use) (void)image_bytes(*use.plan, use.launches);
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
  next_pass_ = params.passIndex;
  return params.isAllPassSubmitted != 0;
}

void RangeProfiler::decode(std::size_t launches) {
  auto params = DLKPROF_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
  params.pRangeProfilerObject = object_;
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerDecodeData, &params);
  auto info = DLKPROF_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  info.pCounterDataImage = image_->data();
  info.counterDataImageSize = image_->size();
  DLKPROF_CUPTI(*library_, cuptiRangeProfilerGetCounterDataInfo, &info);
  if (info.numTotalRanges != launches || params.numOfRangeDropped != 0) {
    throw Error("the counters of a launch were not delivered",
                "cuptiRangeProfilerDecodeData: " + std::to_string(info.numTotalRanges) + " ranges, " +
                    std::to_string(params.numOfRangeDropped) + " dropped, where " + std::to_string(launches) + " was expected",
                "");
  }
}

}  // namespace dlkprof::cupti
