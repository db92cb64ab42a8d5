#include "cupti/pc_sampler.h"

#include <cupti_pcsampling.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace dlkprof::cupti {
namespace {

// Instructions that are handed over at once; what does not fit stays for the next call.
constexpr std::size_t kInstructionsAtOnce = 8192;
// With all that has come since the last call; what does not fit is lost.
constexpr std::size_t kInstructionsAtEnd = 32768;
// CUPTI's own copy, between the hardware's buffer and ours: some 200 bytes an instruction (cupti_pcsampling.h).
constexpr std::size_t kScratchBytes = std::size_t{16} << 20U;
// A sample takes 22 bytes, and an H200 takes 2 million a second with a period of 2^17 cycles (measured): more than a second's
// worth. CUPTI's default, 512 MB, is more than a profiler should take from a program that needs all memory there is.
constexpr std::size_t kHardwareBytes = std::size_t{64} << 20U;
// A period that is too short for CUPTI to keep up would otherwise hold us here for ever.
constexpr int kMostCallsADrain = 64;

// The names of what a warp may be found doing hold the first; there are counts of other things, too.
constexpr std::string_view kStalled = "_issue_stalled_", kCountedTwice = "_not_issued";

// A parameter struct of cupti_pcsampling.h, which name their sizes otherwise than the rest of CUPTI. All end in a pointer, so
// that the size up to the last field, which CUPTI asks for, is that of the struct.
template <typename Params>
Params pc_params(CUcontext context) {
  Params params{};
  params.size = sizeof params;
  params.ctx = context;
  return params;
}

void add(PcTotals& sum, const PcTotals& more) {
  sum.samples += more.samples;
  sum.foreign += more.foreign;
  sum.dropped += more.dropped;
  sum.overflows += more.overflows;
}

}  // namespace

// Memory that CUPTI writes to.
struct PcSampler::Buffer {
  Buffer(std::size_t instructions, std::size_t reasons) : pcs(instructions), stalls(instructions * reasons) {
    for (std::size_t i = 0; i < pcs.size(); ++i) {
      pcs[i].size = sizeof(CUpti_PCSamplingPCData);
      pcs[i].stallReason = stalls.data() + i * reasons;
    }
    data.size = sizeof(CUpti_PCSamplingData);
    data.collectNumPcs = pcs.size();
    data.pPcData = pcs.data();
  }

  // CUPTI adds nothing up itself, but does not clear what it has nothing for.
  void clear() {
    data.totalSamples = data.droppedSamples = data.nonUsrKernelsTotalSamples = 0;
    data.totalNumPcs = data.remainingNumPcs = 0;
    data.hardwareBufferFull = 0;
  }

  std::vector<CUpti_PCSamplingPCData> pcs;
  std::vector<CUpti_PCSamplingStallReason> stalls;
  CUpti_PCSamplingData data{};
};

PcSampler::PcSampler(const Library& library, CUcontext context) : library_(&library), context_(context) {}

PcSampler::PcSampler(PcSampler&& other) noexcept
    : library_(other.library_),
      context_(std::exchange(other.context_, nullptr)),
      period_log2_(other.period_log2_),
      reasons_(std::move(other.reasons_)),
      reasons_in_all_(other.reasons_in_all_),
      full_(other.full_),
      given_(std::move(other.given_)),
      asked_(std::move(other.asked_)) {}

PcSampler::~PcSampler() {
  if (context_ == nullptr) return;
  auto params = pc_params<CUpti_PCSamplingDisableParams>(context_);
  (void)library_->cuptiPCSamplingDisable(&params);
}

PcSampler PcSampler::start(const Library& library, CUcontext context, std::uint32_t period_log2) {
  library.load_nvperf();  // CUPTI asks for it by name here too
  auto params = pc_params<CUpti_PCSamplingEnableParams>(context);
  DLKPROF_CUPTI(library, cuptiPCSamplingEnable, &params);
  PcSampler sampler(library, context);  // from here on ended by its destructor
  sampler.read_reasons();
  sampler.given_ = std::make_unique<Buffer>(kInstructionsAtEnd, sampler.reasons_in_all_);
  sampler.asked_ = std::make_unique<Buffer>(kInstructionsAtOnce, sampler.reasons_in_all_);
  sampler.configure(period_log2);
  return sampler;
}

void PcSampler::read_reasons() {
  std::size_t count = 0;
  auto number = pc_params<CUpti_PCSamplingGetNumStallReasonsParams>(context_);
  number.numStallReasons = &count;
  DLKPROF_CUPTI(*library_, cuptiPCSamplingGetNumStallReasons, &number);
  std::vector<std::uint32_t> indices(count);
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> texts(count);
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  auto names = pc_params<CUpti_PCSamplingGetStallReasonsParams>(context_);
  names.numStallReasons = count;
  names.stallReasonIndex = indices.data();
  names.stallReasons = pointers.data();
  DLKPROF_CUPTI(*library_, cuptiPCSamplingGetStallReasons, &names);
  reasons_in_all_ = count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name(texts[i].data(), strnlen(texts[i].data(), texts[i].size()));
    if (name.find(kStalled) != name.npos && !name.ends_with(kCountedTwice)) reasons_.push_back({indices[i], std::string(name)});
  }
}

void PcSampler::hand_over(const Buffer& buffer, const OnPcHit& on_hit) const {
  const auto is_wanted = [this](std::uint32_t index) {
    return std::any_of(reasons_.begin(), reasons_.end(), [index](const Reason& reason) { return reason.index == index; });
  };
  std::vector<PcStall> stalls;
  const std::size_t count = std::min(buffer.data.totalNumPcs, buffer.pcs.size());
  for (std::size_t i = 0; i < count; ++i) {
    const CUpti_PCSamplingPCData& pc = buffer.pcs[i];
    if (pc.functionName == nullptr) continue;
    stalls.clear();
    for (std::size_t k = 0; k < std::min(pc.stallReasonCount, reasons_in_all_); ++k) {
      const auto& [reason, samples] = pc.stallReason[k];
      if (samples > 0 && is_wanted(reason)) stalls.push_back({reason, samples});
    }
    if (!stalls.empty()) on_hit({pc.functionName, pc.cubinCrc, pc.pcOffset, stalls});
  }
}

void PcSampler::configure(std::uint32_t period_log2) {
  std::vector<CUpti_PCSamplingConfigurationInfo> all;
  const auto set = [&all](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
    all.emplace_back().attributeType = type;
    return all.back().attributeData;
  };
  set(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE).collectionModeData = {
      CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS};
  set(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD).samplingPeriodData = {period_log2};
  set(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE).scratchBufferSizeData = {kScratchBytes};
  set(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE).hardwareBufferSizeData = {kHardwareBytes};
  set(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT).outputDataFormatData = {
      CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED};
  set(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER).samplingDataBufferData = {&given_->data};
  auto params = pc_params<CUpti_PCSamplingConfigurationInfoParams>(context_);
  params.numAttributes = all.size();
  params.pPCSamplingConfigurationInfo = all.data();
  DLKPROF_CUPTI(*library_, cuptiPCSamplingSetConfigurationAttribute, &params);
  period_log2_ = period_log2;
}

// A buffer stays full until sampling ends: that is said again and again, but is one overflow.
PcTotals PcSampler::totals_of(const Buffer& buffer) {
  const auto& data = buffer.data;
  const bool is_full = data.hardwareBufferFull != 0;
  const bool was_full = std::exchange(full_, is_full);
  return {data.totalSamples, data.nonUsrKernelsTotalSamples, data.droppedSamples, is_full && !was_full ? 1U : 0U};
}

PcTotals PcSampler::drain(const OnPcHit& on_hit) {
  PcTotals sum;
  for (int calls = 0; calls < kMostCallsADrain; ++calls) {
    asked_->clear();
    auto params = pc_params<CUpti_PCSamplingGetDataParams>(context_);
    params.pcSamplingData = &asked_->data;
    const CUptiResult result = library_->cuptiPCSamplingGetData(&params);
    const bool full = result == CUPTI_ERROR_OUT_OF_MEMORY;  // the hardware's buffer: there is nothing, and what was is lost
    if (full) asked_->data.hardwareBufferFull = 1;
    if (!full) check(*library_, result, "cuptiPCSamplingGetData");
    add(sum, totals_of(*asked_));
    hand_over(*asked_, on_hit);
    if (full || asked_->data.remainingNumPcs == 0) break;
  }
  return sum;
}

PcTotals PcSampler::finish(const OnPcHit& on_hit) {
  given_->clear();
  auto params = pc_params<CUpti_PCSamplingDisableParams>(std::exchange(context_, nullptr));
  const CUptiResult result = library_->cuptiPCSamplingDisable(&params);
  if (result == CUPTI_ERROR_OUT_OF_MEMORY) given_->data.hardwareBufferFull = 1;
  if (result != CUPTI_ERROR_OUT_OF_MEMORY) check(*library_, result, "cuptiPCSamplingDisable");
  hand_over(*given_, on_hit);
  return totals_of(*given_);
}

}  // namespace dlkprof::cupti
