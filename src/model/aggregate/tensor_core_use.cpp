#include "model/aggregate/tensor_core_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/aggregate/reliable.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// Metrics of the tensor pipe: cycles in which it was active, and instructions that were issued to it. By the names of NVPerf's
// catalogue (dlkprof metrics --query tensor), where a unit may stand before them (TPC.TriageCompute.).
constexpr std::array<std::string_view, 2> kTensorMetrics{"sm__pipe_tensor", "sm__inst_executed_pipe_tensor"};
constexpr std::string_view kTensorOperations = "sm__ops_path_tensor";
constexpr std::string_view kPercent = ".pct_of_peak_sustained_";
// Less is none: kernels of ordinary arithmetic were seen at up to 0.25 % on an H200 (cuBLAS's gemmSN_NN_kernel<float>, cuDNN's
// ..._ffma_...; samples/captures), those of matrix instructions at 1.4 % and more.
constexpr double kLeastPercent = 0.5;
constexpr double kFewestCycles = 64;  // a warp
constexpr double kWarpThreads = 32;
constexpr double kEdgesNs = 2000;  // a microsecond at each end of a launch

// The pipe's share of the cycles in which a multiprocessor is active, and these cycles. Exact counters, then cheap ones.
constexpr std::array kShareOfActive{"sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active",
                                    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                                    "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_active"};
constexpr std::array kActiveCycles{"sm__cycles_active.avg", "TPC.TriageCompute.sm__cycles_active.avg"};
// The same of all cycles.
constexpr std::array kShareOfElapsed{
    "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"};
constexpr std::array kActiveOfElapsed{"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed"};

using Metrics = std::map<std::string, std::vector<double>>;

template <std::size_t kSize>
std::optional<double> mean_metric(const Metrics& metrics, const std::array<const char*, kSize>& names) {
  for (const char* name : names) {
    const auto found = metrics.find(name);
    if (found == metrics.end()) continue;
    double sum = 0, count = 0;
    for (const double value : found->second) {
      if (!std::isfinite(value)) continue;  // none came of that launch
      sum += value;
      ++count;
    }
    if (count > 0 && std::isfinite(sum)) return sum / count;
  }
  return std::nullopt;
}

// Cycles of the pipe on a multiprocessor.
std::optional<double> pipe_cycles(const Metrics& metrics) {
  const auto active = mean_metric(metrics, kActiveCycles);
  if (!active) return std::nullopt;
  if (const auto share = mean_metric(metrics, kShareOfActive)) return *share / 100 * *active;
  const auto share = mean_metric(metrics, kShareOfElapsed);
  const auto active_share = mean_metric(metrics, kActiveOfElapsed);
  return share && active_share && *active_share > 0 ? std::optional(*share / *active_share * *active) : std::nullopt;
}

double extent(const capture::Dim3& dim) { return double{1} * dim.x * dim.y * dim.z; }

// Whether the pipe's cycles may be those that other instructions make; false where that is not known.
bool are_few(const Timeline& timeline, std::uint32_t config, const Metrics& metrics) {
  double sms = 0;  // GPUs of one program are taken for alike
  for (const Device& device : timeline.devices) sms = std::max(sms, double{1} * device.record.sm_count);
  const capture::LaunchKey& key = timeline.configs[config].key;
  const double warps = extent(key.grid) * std::ceil(extent(key.block) / kWarpThreads);
  const std::optional<double> cycles = pipe_cycles(metrics);
  return cycles && sms > 0 && warps > 0 && *cycles * sms < kFewestCycles * warps;
}

bool is_tensor_metric(std::string_view name) {
  return std::any_of(kTensorMetrics.begin(), kTensorMetrics.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// What counters say, from the least to the most.
enum class Answer : std::uint8_t { none, no, open, yes, certain };

// What neighbours can have left in the samples of a configuration, in points of a share.
class Neighbours {
 public:
  explicit Neighbours(const Timeline& timeline) {
    if (timeline.sampled.empty()) return;
    for (const Activity& activity : timeline.activities) {
      if (activity.config == kNone || !is_timed(activity)) continue;
      auto& [sum, launches] = lengths_[activity.config];
      sum += static_cast<double>(gpu_ns(activity));
      ++launches;
    }
    for (const auto& [config, figures] : timeline.sampled) {
      for (const auto& [metric, figure] : figures) {
        if (is_tensor_metric(metric)) most_[metric] = std::max(most_[metric], figure.mean);
      }
    }
  }
  [[nodiscard]] double left(std::uint32_t config, const std::string& metric) const {
    const auto length = lengths_.find(config);
    const auto most = most_.find(metric);
    if (length == lengths_.end() || most == most_.end() || !(length->second.first > 0)) return 100;
    return most->second * std::min(1.0, kEdgesNs * length->second.second / length->second.first);
  }

 private:
  std::map<std::uint32_t, std::pair<double, double>> lengths_;  // by configuration: sum and number
  std::map<std::string, double> most_;                          // by metric
};

Answer answer_of(const SampledFigure& figure, double left) {
  if (!figure.interval) return Answer::open;
  if (figure.mean + *figure.interval < kLeastPercent) return Answer::no;
  return figure.mean - *figure.interval - left >= kLeastPercent ? Answer::yes : Answer::open;
}

Answer answer_of(const std::string& metric, const std::vector<double>& values) {
  const bool in_percent = metric.find(kPercent) != std::string::npos;
  Answer answer = Answer::none;
  for (const double value : values) {
    if (!std::isfinite(value) || is_unreliable(metric, value)) continue;
    if (value > 0 && !in_percent) continue;  // how much a count is, it does not say
    answer = std::max(answer, value >= kLeastPercent ? Answer::yes : Answer::no);
  }
  return answer;
}

bool any_above_zero(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value) && value > 0; });
}

Answer use_by_counter(const Timeline& timeline, std::uint32_t config, const Metrics& metrics, const Neighbours& neighbours) {
  const auto sampled = timeline.sampled.find(config);
  Answer answer = Answer::none;
  for (const auto& [metric, values] : metrics) {
    if (metric.starts_with(kTensorOperations) && any_above_zero(values)) return Answer::certain;
    if (!is_tensor_metric(metric)) continue;
    const bool has_samples = sampled != timeline.sampled.end() && sampled->second.contains(metric);
    const bool in_percent = metric.find(kPercent) != std::string::npos;
    answer = std::max(answer, has_samples && in_percent ? answer_of(sampled->second.at(metric), neighbours.left(config, metric))
                                                        : answer_of(metric, values));
  }
  return answer;
}

TensorCoreUse use_by_name(const Kernel& kernel) {
  // The long name: what says so is often a template argument, as in cutlass::Kernel2<cutlass_80_tensorop_...>.
  const std::string& name = !kernel.long_name.empty() ? kernel.long_name : !kernel.name.empty() ? kernel.name : kernel.mangled;
  if (name.empty()) return {};
  return {kernel.kind == capture::ActivityKind::kernel && tensor_core_name(name), TensorCoreSource::name};
}

}  // namespace

TensorCoreTable::TensorCoreTable(const Timeline& timeline) : by_config_(timeline.configs.size()) {
  by_kernel_.reserve(timeline.kernels.size());
  for (const Kernel& kernel : timeline.kernels) by_kernel_.push_back(use_by_name(kernel));
  const Neighbours neighbours(timeline);
  for (const auto& [config, metrics] : timeline.measured) {
    const std::uint32_t kernel = timeline.configs.at(config).kernel;
    Answer answer = use_by_counter(timeline, config, metrics, neighbours);
    if (answer == Answer::yes && are_few(timeline, config, metrics)) {
      answer = kernel != kNone && by_kernel_[kernel].uses ? Answer::open : Answer::no;
    }
    if (answer == Answer::no || answer >= Answer::yes) by_config_[config] = {answer >= Answer::yes, TensorCoreSource::counter};
  }
}

}  // namespace dlkprof::model
