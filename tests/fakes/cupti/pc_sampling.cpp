// PC sampling: every run of a kernel gives the same ten samples, at two instructions.
#include "cupti/pc_sampling.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "common/journal.h"
#include "cupti/real.h"

namespace fakes {
namespace {

bool g_names_are_freed = false;
std::uint64_t g_samplings_ended = 0;
struct Names {
  Names() = default;
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  ~Names() { g_names_are_freed = true; }
};

struct Reason {
  std::uint32_t index;
  const char* name;
};
// In no order, as the real ones come; and with some that count others once more.
constexpr Reason kReasons[] = {{15, "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"},
                               {28, "smsp__pcsamp_warps_issue_stalled_selected"},
                               {0, "smsp__pcsamp_sample_count"},
                               {14, "smsp__pcsamp_warps_issue_stalled_long_scoreboard"},
                               {24, "smsp__pcsamp_warps_issue_stalled_no_instructions"}};
struct Found {
  std::uint64_t offset;
  std::uint32_t reason, samples;
};
// Of one run.
constexpr Found kFound[] = {{0x10, 14, 6}, {0x10, 15, 4}, {0x10, 28, 1}, {0x40, 24, 2}, {0x40, 28, 1}};
constexpr std::uint64_t kSamples = 10;

using Instruction = std::pair<const char*, std::uint64_t>;  // function and offset
struct Sampling {
  bool configured = false;
  CUpti_PCSamplingData* at_end = nullptr;
  std::map<Instruction, std::map<std::uint32_t, std::uint32_t>> found;
  std::uint64_t samples = 0;
};

// A lock of its own, as kernels run while their context's lock is held. Of all samplings.
std::mutex& sampling_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

std::map<CUcontext, Sampling>& samplings() {
  static auto& all = *new std::map<CUcontext, Sampling>;
  return all;
}

std::uint64_t crc(const char* bytes, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: any checksum will do
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<std::uint8_t>(bytes[i])) * 0x100000001b3;
  return hash & 0xffff'ffff;
}

// As much as there is room for.
void hand_out(Sampling& sampling, CUpti_PCSamplingData& data) {
  const auto [cubin, size] = driver()->cubin();
  data.totalSamples = std::exchange(sampling.samples, 0);
  data.totalNumPcs = 0;
  while (!sampling.found.empty() && data.totalNumPcs < data.collectNumPcs) {
    const auto first = sampling.found.begin();
    CUpti_PCSamplingPCData& pc = data.pPcData[data.totalNumPcs++];
    pc.cubinCrc = crc(cubin, size);
    pc.pcOffset = first->first.second;
    pc.functionName = const_cast<char*>(first->first.first);
    pc.stallReasonCount = 0;
    for (const auto& [reason, samples] : first->second) pc.stallReason[pc.stallReasonCount++] = {reason, samples};
    sampling.found.erase(first);
  }
  data.remainingNumPcs = sampling.found.size();
}

Sampling* sampling_of(CUcontext context, const char* call) {
  const auto found = samplings().find(context);
  if (found != samplings().end()) return &found->second;
  misuse(std::string(call) + " where nothing is sampled");
  return nullptr;
}

}  // namespace

void sample_pcs(const KernelRun& run) {
  const std::lock_guard lock(sampling_mutex());
  const auto sampled = samplings().find(run.context);
  if (sampled == samplings().end() || !sampled->second.configured) return;
  for (const auto& [offset, reason, samples] : kFound) sampled->second.found[{run.kernel->name, offset}][reason] += samples;
  sampled->second.samples += kSamples;
}

bool is_sampled(CUcontext context) {
  const std::lock_guard lock(sampling_mutex());
  return samplings().contains(context);
}

std::uint64_t samplings_ended() {
  const std::lock_guard lock(sampling_mutex());
  return g_samplings_ended;
}

std::uint64_t crc_of_cubin() {
  const auto [cubin, size] = driver()->cubin();
  return crc(cubin, size);
}

void check_no_pcs_sampled(CUcontext context) {
  const std::lock_guard lock(sampling_mutex());
  if (samplings().contains(context)) misuse("a context ends while PC sampling goes on in it");
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams* params) {
  FAKE_GPU_CALL(cuptiPCSamplingEnable);
  const std::lock_guard lock(fakes::sampling_mutex());
  if (!fakes::samplings().try_emplace(params->ctx).second) fakes::misuse("PC sampling begins twice in a context");
  fakes::attach_to_driver();
  fakes::trace("pc sampling begins");
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams* params) {
  FAKE_GPU_CALL(cuptiPCSamplingDisable);
  const std::lock_guard lock(fakes::sampling_mutex());
  fakes::Sampling* sampling = fakes::sampling_of(params->ctx, "cuptiPCSamplingDisable");
  if (sampling == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (sampling->at_end != nullptr) fakes::hand_out(*sampling, *sampling->at_end);
  fakes::samplings().erase(params->ctx);
  ++fakes::g_samplings_ended;
  fakes::trace("pc sampling ends");
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* params) {
  FAKE_GPU_CALL(cuptiPCSamplingSetConfigurationAttribute);
  const std::lock_guard lock(fakes::sampling_mutex());
  fakes::Sampling* sampling = fakes::sampling_of(params->ctx, "cuptiPCSamplingSetConfigurationAttribute");
  if (sampling == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (sampling->configured) fakes::misuse("PC sampling is configured twice");
  for (std::size_t i = 0; i < params->numAttributes; ++i) {
    const auto& [type, status, data] = params->pPCSamplingConfigurationInfo[i];
    if (type == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD) {
      fakes::trace("pc period " + std::to_string(data.samplingPeriodData.samplingPeriod));
    } else if (type == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER) {
      sampling->at_end = static_cast<CUpti_PCSamplingData*>(data.samplingDataBufferData.samplingDataBuffer);
    } else if (type == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE &&
               data.collectionModeData.collectionMode != CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS) {
      fakes::misuse("PC sampling would serialize kernels");
    }
  }
  sampling->configured = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* params) {
  FAKE_GPU_CALL(cuptiPCSamplingGetData);
  const std::lock_guard lock(fakes::sampling_mutex());
  fakes::Sampling* sampling = fakes::sampling_of(params->ctx, "cuptiPCSamplingGetData");
  if (sampling == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  fakes::hand_out(*sampling, *static_cast<CUpti_PCSamplingData*>(params->pcSamplingData));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* params) {
  FAKE_GPU_CALL(cuptiPCSamplingGetNumStallReasons);
  *params->numStallReasons = std::size(fakes::kReasons);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* params) {
  FAKE_GPU_CALL(cuptiPCSamplingGetStallReasons);
  for (std::size_t i = 0; i < params->numStallReasons; ++i) {
    params->stallReasonIndex[i] = fakes::kReasons[i].index;
    std::strncpy(params->stallReasons[i], fakes::kReasons[i].name, CUPTI_STALL_REASON_STRING_SIZE - 1);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams* params) {
  FAKE_CALL(cuptiGetCubinCrc);
  params->cubinCrc = fakes::crc(static_cast<const char*>(params->cubin), params->cubinSize);
  return CUPTI_SUCCESS;
}

// Instruction after instruction a line.
CUptiResult cuptiGetSassToSourceCorrelation(CUpti_GetSassToSourceCorrelationParams* params) {
  FAKE_CALL(cuptiGetSassToSourceCorrelation);
  if (params->cubinSize < SELFMAG || std::memcmp(params->cubin, ELFMAG, SELFMAG) != 0) return CUPTI_ERROR_INVALID_MODULE;
  static const fakes::Names names;  // as in CUPTI: freed at the end, in the order of exit handlers
  if (fakes::g_names_are_freed) std::abort();
  const auto [cubin, size] = fakes::driver()->cubin();
  if (params->cubinSize != size || std::memcmp(params->cubin, cubin, size) != 0) return CUPTI_ERROR_INVALID_MODULE;
  constexpr std::uint32_t kFirstLine = 10, kBytes = 16;
  params->lineNumber = kFirstLine + static_cast<std::uint32_t>(params->pcOffset) / kBytes;
  params->fileName = strdup("kernels.cu");
  params->dirName = strdup("/src");
  return CUPTI_SUCCESS;
}

}  // extern "C"
