#include "model/aggregate/tensor_core_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlkprof::model {
namespace {

// Metrics of the tensor pipe: cycles in which it was active, and instructions that were issued to it. By the names of NVPerf's
// catalogue (dlkprof metrics --query tensor), where a unit may stand before them (TPC.TriageCompute.).
constexpr std::array<std::string_view, 2> kTensorMetrics{"sm__pipe_tensor", "sm__inst_executed_pipe_tensor"};
constexpr std::string_view kPercent = ".pct_of_peak_sustained_";
// Less is none: kernels of ordinary arithmetic were seen at up to 0.25 % on an H200 (cuBLAS's gemmSN_NN_kernel<float>, cuDNN's
// ..._ffma_...; samples/captures), those of matrix instructions at 1.4 % and more.
constexpr double kLeastPercent = 0.5;

// Some of PyTorch's elementwise kernels and reductions reach 2.2 %, so that the cycles of a warp are asked as well. GH100 counts
// a few other instructions as that pipe's, at half a cycle each: on an H200 one or four a warp in plain fp32 kernels, up to 87 in
// reductions of PyTorch's. Kernels that multiply matrices had 144 cycles a warp and more.
constexpr double kFewestCycles = 64;  // a warp
constexpr double kWarpThreads = 32;
constexpr std::array<const char*, 2> kShareOfCycles{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active",
                                                    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"};
constexpr const char* kActiveCycles = "sm__cycles_active.avg";

using Metrics = std::map<std::string, std::vector<double>>;

std::optional<double> mean_metric(const Metrics& metrics, const char* name) {
  const auto found = metrics.find(name);
  if (found == metrics.end()) return std::nullopt;
  double sum = 0, count = 0;
  for (const double value : found->second) {
    if (!std::isfinite(value)) continue;  // none came of that launch
    sum += value;
    ++count;
  }
  return count > 0 && std::isfinite(sum) ? std::optional(sum / count) : std::nullopt;
}

double extent(const capture::Dim3& dim) { return double{1} * dim.x * dim.y * dim.z; }

// Whether the pipe's cycles are those that other instructions make; false where that is not known.
bool is_noise(const Timeline& timeline, std::uint32_t config, const Metrics& metrics) {
  double sms = 0;  // GPUs of one program are taken for alike
  for (const Device& device : timeline.devices) sms = std::max(sms, double{1} * device.record.sm_count);
  const capture::LaunchKey& key = timeline.configs[config].key;
  const double warps = extent(key.grid) * std::ceil(extent(key.block) / kWarpThreads);
  std::optional<double> share;
  for (const char* name : kShareOfCycles) share = share ? share : mean_metric(metrics, name);
  const std::optional<double> active = mean_metric(metrics, kActiveCycles);
  return share && active && sms > 0 && warps > 0 && *share / 100 * *active * sms < kFewestCycles * warps;
}

bool is_tensor_metric(std::string_view name) {
  return std::any_of(kTensorMetrics.begin(), kTensorMetrics.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

TensorCoreUse use_by_counter(const Timeline& timeline, std::uint32_t config) {
  TensorCoreUse use;
  const auto measured = timeline.measured.find(config);
  if (config == kNone || measured == timeline.measured.end()) return use;
  for (const auto& [metric, values] : measured->second) {
    if (!is_tensor_metric(metric)) continue;
    const bool in_percent = metric.find(kPercent) != std::string::npos;
    for (const double value : values) {
      if (!std::isfinite(value) || (value > 0 && !in_percent)) continue;  // how much a count is, it does not say
      use.source = TensorCoreSource::counter;
      use.uses |= value >= kLeastPercent;
    }
  }
  use.uses = use.uses && !is_noise(timeline, config, measured->second);
  return use;
}

TensorCoreUse use_by_name(const Kernel& kernel) {
  // The long name: what says so is often a template argument, as in cutlass::Kernel2<cutlass_80_tensorop_...>.
  const std::string& name = !kernel.long_name.empty() ? kernel.long_name : !kernel.name.empty() ? kernel.name : kernel.mangled;
  if (name.empty()) return {};
  return {kernel.kind == capture::ActivityKind::kernel && tensor_core_name(name), TensorCoreSource::name};
}

}  // namespace

TensorCoreTable::TensorCoreTable(const Timeline& timeline) : by_config_(timeline.configs.size()) {
  for (const auto& [config, metrics] : timeline.measured) by_config_.at(config) = use_by_counter(timeline, config);
  by_kernel_.reserve(timeline.kernels.size());
  for (const Kernel& kernel : timeline.kernels) by_kernel_.push_back(use_by_name(kernel));
}

TensorCoreUse tensor_core_use(const Timeline& timeline, std::uint32_t kernel, std::uint32_t config) {
  const TensorCoreUse counted = use_by_counter(timeline, config);
  return counted.source == TensorCoreSource::counter ? counted : use_by_name(timeline.kernels[kernel]);
}

}  // namespace dlkprof::model
