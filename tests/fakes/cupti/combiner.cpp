// libnvperf_host: adds ranges of the fake's images up, and lays images out. A range that misses passes gets those of another of
// the same kernel.
#pragma GCC visibility push(default)
#include <nvperf_cuda_host.h>
#include <nvperf_host.h>
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cstring>

#include "common/journal.h"
#include "cupti/real.h"

struct NVPA_CounterDataCombiner {
  fakes::FakeImage* image;
};

struct NVPA_CounterDataBuilder {
  fakes::FakePrefix prefix;
};

namespace fakes {
namespace {

bool g_host_initialized = false;

// An image of which only the address is told.
FakeImage* image_at(const std::uint8_t* address) {
  auto* image = reinterpret_cast<FakeImage*>(const_cast<std::uint8_t*>(address));
  if (image == nullptr || image->magic != kFakeImageMagic) {
    misuse("counters are combined of what is no image");
    return nullptr;
  }
  return image;
}

void sum(FakeImage& to, std::size_t to_range, const FakeImage& from, std::size_t from_range) {
  auto total = to.at(to_range);
  const auto added = from.at(from_range);
  if (total.passes != 0 && total.recorded != added.recorded) misuse("counters of different kernels are combined");
  if ((total.passes & added.passes) != 0) misuse("counters of the same pass are combined");
  if (to.plan_passes != 0 && to.plan_passes != from.plan_passes) misuse("counters of different plans are combined");
  to.plan_passes = from.plan_passes;
  total = {added.recorded, total.passes | added.passes};
  to.put(to_range, total);
}

}  // namespace
}  // namespace fakes

#define FAKE_NVPERF_CALL(function) \
  if (::fakes::told_to_fail(#function)) return NVPA_STATUS_ERROR

extern "C" {

NVPA_Status NVPW_InitializeHost(NVPW_InitializeHost_Params*) {
  FAKE_NVPERF_CALL(NVPW_InitializeHost);
  fakes::g_host_initialized = true;
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataCombiner_Create(NVPW_CounterDataCombiner_Create_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataCombiner_Create);
  if (!fakes::g_host_initialized) return NVPA_STATUS_NOT_INITIALIZED;
  auto* image = fakes::image_at(params->pCounterDataDst);
  if (image == nullptr) return NVPA_STATUS_INVALID_ARGUMENT;
  params->pCounterDataCombiner = new NVPA_CounterDataCombiner{image};
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataCombiner_Destroy(NVPW_CounterDataCombiner_Destroy_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataCombiner_Destroy);
  delete params->pCounterDataCombiner;
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataCombiner_CreateRange(NVPW_CounterDataCombiner_CreateRange_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataCombiner_CreateRange);
  auto& image = *params->pCounterDataCombiner->image;
  if (image.ranges >= image.room) {
    fakes::misuse("a range more is combined than there is room for");
    return NVPA_STATUS_INVALID_ARGUMENT;
  }
  params->rangeIndexDst = image.ranges++;
  image.put(params->rangeIndexDst, {});
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataCombiner_SumIntoRange(NVPW_CounterDataCombiner_SumIntoRange_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataCombiner_SumIntoRange);
  const auto* from = fakes::image_at(params->pCounterDataSrc);
  auto& to = *params->pCounterDataCombiner->image;
  if (from == nullptr || params->rangeIndexSrc >= from->ranges || params->rangeIndexDst >= to.ranges) {
    fakes::misuse("a range is combined that was not measured");
    return NVPA_STATUS_INVALID_ARGUMENT;
  }
  fakes::sum(to, params->rangeIndexDst, *from, params->rangeIndexSrc);
  return NVPA_STATUS_SUCCESS;
}

// One for each pass: which ones they are does not matter to the fake.
NVPA_Status NVPW_Config_GetRawCounters(NVPW_Config_GetRawCounters_Params* params) {
  FAKE_NVPERF_CALL(NVPW_Config_GetRawCounters);
  static constexpr std::array kNames = {"0xf0", "0xf1", "0xf2", "0xf3", "0xf4", "0xf5", "0xf6", "0xf7"};
  if (params->configSize == 0) return NVPA_STATUS_INVALID_ARGUMENT;
  if (params->ppRawCounterNames != nullptr) params->ppRawCounterNames[0] = kNames.at(params->passIndex % kNames.size());
  params->numRawCounters = 1;
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CUDA_CounterDataBuilder_Create(NVPW_CUDA_CounterDataBuilder_Create_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CUDA_CounterDataBuilder_Create);
  if (!fakes::g_host_initialized) return NVPA_STATUS_NOT_INITIALIZED;
  params->pCounterDataBuilder = new NVPA_CounterDataBuilder{{fakes::kFakePrefixMagic, 0}};
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataBuilder_Destroy(NVPW_CounterDataBuilder_Destroy_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataBuilder_Destroy);
  delete params->pCounterDataBuilder;
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataBuilder_AddRawCounters(NVPW_CounterDataBuilder_AddRawCounters_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataBuilder_AddRawCounters);
  params->pCounterDataBuilder->prefix.counters += params->numRawCounterRequests;
  return NVPA_STATUS_SUCCESS;
}

NVPA_Status NVPW_CounterDataBuilder_GetCounterDataPrefix(NVPW_CounterDataBuilder_GetCounterDataPrefix_Params* params) {
  FAKE_NVPERF_CALL(NVPW_CounterDataBuilder_GetCounterDataPrefix);
  const auto& prefix = params->pCounterDataBuilder->prefix;
  if (params->pBuffer != nullptr) std::memcpy(params->pBuffer, &prefix, std::min(params->bytesAllocated, sizeof prefix));
  params->bytesCopied = sizeof prefix;
  return NVPA_STATUS_SUCCESS;
}

}  // extern "C"
