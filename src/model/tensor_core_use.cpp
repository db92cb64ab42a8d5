#include "model/tensor_core_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace dlkprof::model {
namespace {

// Metrics of the tensor pipe: cycles in which it was active, and instructions that were issued to it. By the names of NVPerf's
// catalogue (dlkprof metrics --query tensor), where a unit may stand before them (TPC.TriageCompute.).
constexpr std::array<std::string_view, 2> kTensorMetrics{"sm__pipe_tensor", "sm__inst_executed_pipe_tensor"};
constexpr std::string_view kPercent = ".pct_of_peak_sustained_";
// Less is none: kernels of ordinary arithmetic were seen at up to 0.25 % on an H200 (cuBLAS's gemmSN_NN_kernel<float>, cuDNN's
// ..._ffma_...; samples/captures), those of matrix instructions at 1.4 % and more.
constexpr double kLeastPercent = 0.5;

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
  return use;
}

TensorCoreUse use_by_name(const Kernel& kernel) {
  // The long name: what says so is often a template argument, as in cutlass::Kernel2<cutlass_80_tensorop_...>.
  const std::string& name = !kernel.long_name.empty() ? kernel.long_name : !kernel.name.empty() ? kernel.name : kernel.mangled;
  if (name.empty()) return {};
  return {kernel.kind == capture::WorkKind::kernel && tensor_core_name(name), TensorCoreSource::name};
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
