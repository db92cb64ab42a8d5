#include "cupti/sass_counter.h"

#include <cupti_sass_metrics.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cupti/pc_sampler.h"
#include "cupti/range_profiler.h"

namespace dlkprof::cupti {
namespace {

constexpr const char* kCannot = "instructions cannot be counted";
constexpr const char* kNotCounted = "the instructions of a kernel were not counted";

// All or none of them are there.
void require_sass(const Library& library) {
  if (library.cuptiSassMetricsSetConfig != nullptr && library.cuptiSassMetricsFlushData != nullptr) return;
  throw Error(kCannot, library.path().string() + " has no cuptiSassMetricsSetConfig",
              "Use a newer CUPTI: set CUDA_HOME to the folder of a CUDA Toolkit 13.0, with which this was tried.");
}

}  // namespace

SassCounter SassCounter::create(const Library& library, std::uint32_t device, const std::string& chip) {
  require_sass(library);
  SassCounter counter(library, device);
  std::vector<CUpti_SassMetrics_Config> configs;
  for (const char* metric : kSassMetrics) {
    auto asked = DLKPROF_PARAMS(CUpti_SassMetrics_GetProperties_Params);
    asked.pChipName = chip.c_str();
    asked.pMetricName = metric;
    if (library.cuptiSassMetricsGetProperties(&asked) != CUPTI_SUCCESS) continue;  // not all chips have all
    counter.indices_.emplace(asked.metric.metricId, static_cast<std::uint32_t>(counter.metrics_.size()));
    counter.metrics_.emplace_back(metric);
    configs.push_back({asked.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
  }
  if (configs.empty()) throw Error(kCannot, "CUPTI has no metrics of instructions for " + chip, "Use --pc-sampling instead.");
  auto params = DLKPROF_PARAMS(CUpti_SassMetricsSetConfig_Params);
  params.numOfMetricConfig = configs.size();
  params.pConfigs = configs.data();
  params.deviceIndex = device;
  DLKPROF_CUPTI(library, cuptiSassMetricsSetConfig, &params);
  return counter;
}

SassCounter::SassCounter(SassCounter&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)),
      device_(other.device_),
      context_(std::exchange(other.context_, std::nullopt)),
      not_ready_(std::move(other.not_ready_)),
      metrics_(std::move(other.metrics_)),
      indices_(std::move(other.indices_)) {}

SassCounter::~SassCounter() {
  if (library_ == nullptr || metrics_.empty()) return;
  (void)disable();
  auto params = DLKPROF_PARAMS(CUpti_SassMetricsUnsetConfig_Params);
  params.deviceIndex = device_;
  (void)library_->cuptiSassMetricsUnsetConfig(&params);
}

CUptiResult SassCounter::disable() noexcept {
  if (!context_) return CUPTI_SUCCESS;
  auto params = DLKPROF_PARAMS(CUpti_SassMetricsDisable_Params);
  params.ctx = *std::exchange(context_, std::nullopt);
  return library_->cuptiSassMetricsDisable(&params);
}

// PC sampling that begins and ends: else CUPTI patches nothing any more once it was disabled, and cannot be configured again
// (CUPTI_ERROR_OUT_OF_MEMORY; H200, CUDA 13.0, driver 580). Before the first time as well: after it alone is too late. Where it
// cannot begin, counting still works once, and needs no permission for that.
void SassCounter::make_ready(CUcontext context) {
  constexpr std::uint32_t kRarely = 20;  // cycles between samples, log2: nobody reads them
  try {
    PcSampler sampler = PcSampler::start(*library_, context, kRarely);
    (void)sampler.finish([](const PcHit&) {});
    not_ready_.reset();
  } catch (const Error& error) {
    not_ready_ = error;
  }
}

// Not lazily, CUPTI patches nothing of modules that are loaded already (measured, CUDA 13.0).
void SassCounter::begin(CUcontext context) {
  make_ready(context);
  auto params = DLKPROF_PARAMS(CUpti_SassMetricsEnable_Params);
  params.ctx = context;
  params.enableLazyPatching = 1;
  DLKPROF_CUPTI(*library_, cuptiSassMetricsEnable, &params);
  context_ = context;
}

std::vector<SassHit> SassCounter::end() {
  try {
    std::vector<SassHit> hits = read();
    check(*library_, disable(), "cuptiSassMetricsDisable");
    return hits;
  } catch (...) {
    (void)disable();
    throw;
  }
}

// One record for each instruction and metric; many are 0.
std::vector<SassHit> SassCounter::read() const {
  auto sizes = DLKPROF_PARAMS(CUpti_SassMetricsGetDataProperties_Params);
  sizes.ctx = *context_;
  DLKPROF_CUPTI(*library_, cuptiSassMetricsGetDataProperties, &sizes);
  const std::size_t instances = std::max<std::size_t>(1, sizes.numOfInstances);  // 1 of a whole GPU
  std::vector<CUpti_SassMetrics_InstanceValue> values(sizes.numOfPatchedInstructionRecords * instances);
  std::vector<CUpti_SassMetrics_Data> records(sizes.numOfPatchedInstructionRecords);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].structSize = sizeof records[i];
    records[i].pInstanceValues = values.data() + i * instances;
  }
  auto params = DLKPROF_PARAMS(CUpti_SassMetricsFlushData_Params);
  params.ctx = *context_;
  params.numOfPatchedInstructionRecords = records.size();
  params.numOfInstances = sizes.numOfInstances;
  params.pMetricsData = records.data();
  if (!records.empty()) DLKPROF_CUPTI(*library_, cuptiSassMetricsFlushData, &params);

  std::vector<SassHit> hits;
  for (const CUpti_SassMetrics_Data& record : records) {
    for (std::size_t k = 0; k < instances; ++k) {
      const CUpti_SassMetrics_InstanceValue& one = record.pInstanceValues[k];
      const auto known = indices_.find(one.metricId);
      if (record.functionName == nullptr || one.value == 0 || known == indices_.end()) continue;
      hits.push_back({record.functionName, record.cubinCrc, record.pcOffset, known->second, one.value});
    }
  }
  if (hits.empty()) {
    constexpr const char* kNothingPatched = "CUPTI patched none of its machine code";
    if (not_ready_) throw Error(kNotCounted, std::string(kNothingPatched) + "; " + not_ready_->what(), not_ready_->remedy());
    throw Error(kNotCounted, kNothingPatched, "Another profiler may be in the process.");
  }
  return hits;
}

}  // namespace dlkprof::cupti
