// Counts of instructions: every run of a kernel executes the same two, once patching is on. As with the real ones, nothing is
// patched while PC sampling goes on, and but for the first time only where PC sampling has begun and ended before each time. All
// counts are 0 while activity of kernels is recorded, and what is not fetched is lost. A kernel that runs beside the one whose
// code is patched is misuse: the real ones run into illegal instructions.
#pragma GCC visibility push(default)
#include <cupti_sass_metrics.h>
#pragma GCC visibility pop

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/journal.h"
#include "cupti/pc_sampling.h"
#include "cupti/real.h"

namespace fakes {
namespace {

constexpr const char* kNames[] = {"smsp__sass_inst_executed", "smsp__sass_thread_inst_executed", "smsp__sass_sectors_mem_global",
                                  "smsp__sass_sectors_mem_global_ideal"};
struct Counted {
  std::uint32_t offset;
  std::uint64_t values[std::size(kNames)];
};
// Of one run.
constexpr Counted kCounted[] = {{0x10, {8, 256, 64, 16}}, {0x20, {8, 128, 0, 0}}};

struct Device {
  std::vector<std::uint32_t> metrics;  // that were asked for
  bool patches = false;
  CUcontext context = nullptr;
  std::uint64_t kernels = 0;                                            // that ran since it patches
  std::map<std::pair<const char*, std::uint32_t>, std::uint64_t> runs;  // by function and metric; 0: they were not counted
};

struct Patching {
  bool works = true;
  std::uint64_t times = 0, samplings = 0;  // that had ended when it last began

  void begin(std::uint64_t samplings_ended) {
    const bool is_ready = samplings_ended > std::exchange(samplings, samplings_ended);
    works = times++ == 0 || (was_ready_ && is_ready);
    was_ready_ = is_ready && works;
  }

 private:
  bool was_ready_ = false;
};

Patching& patching() {
  static Patching the_patching;
  return the_patching;
}

std::mutex& mutex() {
  static auto& the_mutex = *new std::mutex;
  return the_mutex;
}
std::map<std::uint32_t, Device>& devices() {  // that are configured
  static auto& all = *new std::map<std::uint32_t, Device>;
  return all;
}
Device* device_of(CUcontext context, const char* call) {
  for (auto& [number, device] : devices()) {
    if (device.patches && device.context == context) return &device;
  }
  misuse(std::string(call) + " where no instructions are counted");
  return nullptr;
}

std::uint64_t number_of(std::size_t metric) { return 1000 + metric; }

}  // namespace

void count_instructions(const KernelRun& run) {
  const bool sampled = is_sampled(run.context), recorded = records_kernels();
  const std::lock_guard lock(mutex());
  for (auto& [number, device] : devices()) {
    if (!device.patches || device.context != run.context) continue;
    if (device.kernels++ > 0) misuse("a kernel runs while the code of another is patched");
    if (sampled || !patching().works) continue;
    for (const std::uint32_t metric : device.metrics) device.runs[{run.kernel->name, metric}] += recorded ? 0 : 1;
  }
}

}  // namespace fakes

extern "C" {

CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params* params) {
  FAKE_CALL(cuptiSassMetricsGetProperties);
  for (std::size_t i = 0; i < std::size(fakes::kNames); ++i) {
    if (params->pMetricName != std::string(fakes::kNames[i])) continue;
    params->metric = {fakes::number_of(i), fakes::kNames[i], ""};
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params* params) {
  FAKE_GPU_CALL(cuptiSassMetricsSetConfig);
  const std::lock_guard lock(fakes::mutex());
  std::vector<std::uint32_t> metrics;
  for (std::size_t i = 0; i < params->numOfMetricConfig; ++i) {
    const std::uint64_t metric = params->pConfigs[i].metricId - fakes::number_of(0);
    if (metric >= std::size(fakes::kNames)) return CUPTI_ERROR_INVALID_PARAMETER;
    metrics.push_back(static_cast<std::uint32_t>(metric));
  }
  const bool is_new = fakes::devices().try_emplace(params->deviceIndex, fakes::Device{.metrics = metrics, .runs = {}}).second;
  if (!is_new) fakes::misuse("counting instructions is configured twice");
  fakes::attach_to_driver();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsUnsetConfig(CUpti_SassMetricsUnsetConfig_Params* params) {
  FAKE_GPU_CALL(cuptiSassMetricsUnsetConfig);
  const std::lock_guard lock(fakes::mutex());
  return fakes::devices().erase(params->deviceIndex) == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params* params) {
  FAKE_GPU_CALL(cuptiSassMetricsEnable);
  const std::lock_guard lock(fakes::mutex());
  if (params->enableLazyPatching == 0) fakes::misuse("modules that are loaded are not patched");
  for (auto& [number, device] : fakes::devices()) {
    if (device.patches) fakes::misuse("instructions are counted twice");
    fakes::patching().begin(fakes::samplings_ended());
    device.patches = true;
    device.context = params->ctx;
    device.kernels = 0;
    device.runs.clear();
    fakes::trace("counting of instructions begins");
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params* params) {
  FAKE_GPU_CALL(cuptiSassMetricsDisable);
  const std::lock_guard lock(fakes::mutex());
  fakes::Device* device = fakes::device_of(params->ctx, "cuptiSassMetricsDisable");
  if (device == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  params->numOfDroppedRecords = device->runs.size() * std::size(fakes::kCounted);
  device->patches = false;
  fakes::trace("counting of instructions ends");
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params* params) {
  FAKE_GPU_CALL(cuptiSassMetricsGetDataProperties);
  const std::lock_guard lock(fakes::mutex());
  const fakes::Device* device = fakes::device_of(params->ctx, "cuptiSassMetricsGetDataProperties");
  if (device == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  params->numOfPatchedInstructionRecords = device->runs.size() * std::size(fakes::kCounted);
  params->numOfInstances = device->runs.empty() ? 0 : 1;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params* params) {
  FAKE_GPU_CALL(cuptiSassMetricsFlushData);
  const std::lock_guard lock(fakes::mutex());
  fakes::Device* device = fakes::device_of(params->ctx, "cuptiSassMetricsFlushData");
  if (device == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (params->numOfPatchedInstructionRecords < device->runs.size() * std::size(fakes::kCounted) || params->numOfInstances < 1) {
    fakes::misuse("there is no room for all counts of instructions");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  CUpti_SassMetrics_Data* record = params->pMetricsData;
  for (const auto& [key, runs] : device->runs) {  // one metric after another
    for (const auto& [offset, values] : fakes::kCounted) {
      record->cubinCrc = static_cast<std::uint32_t>(fakes::crc_of_cubin());
      record->functionName = key.first;
      record->pcOffset = offset;
      record->pInstanceValues[0] = {fakes::number_of(key.second), runs * values[key.second]};
      ++record;
    }
  }
  device->runs.clear();
  return CUPTI_SUCCESS;
}

}  // extern "C"
