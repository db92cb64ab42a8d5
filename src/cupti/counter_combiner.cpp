#include "cupti/counter_combiner.h"

#include <utility>

namespace dlkprof::cupti {

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
