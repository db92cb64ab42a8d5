#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "advise/quantities.h"
#include "advise/run_figures_parts.h"
#include "base/error.h"
#include "model/aggregate/occupancy.h"
#include "model/aggregate/spread.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

using model::kNone;

// A mean weighted by GPU time, of what is known.
class WeightedMean {
 public:
  void add(const std::optional<double>& value, double weight) {
    if (!value) return;
    sum_ += *value * weight;
    weight_ += weight;
  }
  [[nodiscard]] std::optional<double> value() const { return weight_ > 0 ? std::optional(sum_ / weight_) : std::nullopt; }

 private:
  double sum_ = 0, weight_ = 0;
};

std::optional<double> find_waves(const model::Timeline& timeline, const model::Config& config, const capture::DeviceRecord& gpu) {
  const capture::FunctionRecord* function = model::function_of(timeline, config);
  if (function == nullptr) return std::nullopt;
  try {
    return model::theoretical_occupancy(gpu, *function, config.key).waves;
  } catch (const Error&) {
    return std::nullopt;  // an occupancy that cannot be computed is not guessed
  }
}

}  // namespace

LaunchGroups::LaunchGroups(const model::Timeline& timeline, LaunchSums&& sums)
    : timeline_(timeline), sums_(sums.begin(), sums.end()) {
  find_fills();
  join_counters();
}

void LaunchGroups::find_fills() {
  for (const auto& [id, sum] : sums_) {
    if (id.config == kNone || fills_.contains(id.config)) continue;
    const model::Config& config = timeline_.configs[id.config];
    const capture::DeviceRecord& gpu = timeline_.devices[sum.device].record;
    const double blocks = double{1} * config.key.grid.x * config.key.grid.y * config.key.grid.z;
    GridFill& fill = fills_[id.config];
    if (gpu.sm_count > 0 && blocks > 0) fill.idle_sms = std::max(1 - blocks / gpu.sm_count, 0.0);
    fill.waves = find_waves(timeline_, config, gpu);
  }
}

void LaunchGroups::join_counters() {
  model::CounterJoin join(timeline_);
  std::size_t rows = 1;
  const auto row_of = [&rows](auto& known, const auto& key) {
    const auto [found, is_new] = known.try_emplace(key, rows);
    if (is_new) ++rows;
    return found->second;
  };
  for (const auto& [id, sum] : sums_) {
    const std::size_t op = row_of(op_rows_, id.op);
    const std::size_t kernel = row_of(kernel_rows_, std::pair(id.op, id.kernel));
    for (const std::size_t row : {std::size_t{0}, op, kernel}) join.add(row, id.config, sum.launches, sum.gpu_ns);
  }
  counters_ = join.finish(rows);
}

LaunchGroups::Range LaunchGroups::of_op(std::uint32_t op) const {
  return {sums_.lower_bound({op, 0, 0}), sums_.upper_bound({op, kNone, kNone})};
}

Fill LaunchGroups::fill_of(Range range) const {
  WeightedMean idle;
  WeightedMean below;
  WeightedMean waves;
  for (auto it = range.first; it != range.second; ++it) {
    const auto found = fills_.find(it->first.config);
    if (found == fills_.end()) continue;
    const auto weight = static_cast<double>(it->second.gpu_ns);
    const GridFill& fill = found->second;
    idle.add(fill.idle_sms, weight);
    waves.add(fill.waves, weight);
    if (fill.waves) below.add(*fill.waves < 1 ? 1.0 : 0.0, weight);
  }
  return {idle.value(), below.value(), waves.value()};
}

Measured LaunchGroups::measured_of(Range range, std::size_t row) const {
  const model::Counters& counters = counters_[row];
  if (counters.samples == 0) return {};
  Measured measured;
  measured.occupancy = find(counters.values, Quantity::achieved_occupancy);
  measured.tensor_pipe = find(counters.values, Quantity::tensor_pipe);
  measured.dram_rate = find(counters.values, Quantity::dram_rate);
  measured.dram_throughput = find(counters.values, Quantity::dram_throughput);
  std::int64_t gpu_ns = 0;
  for (auto it = range.first; it != range.second; ++it) {
    if (timeline_.kernels[it->first.kernel].kind == capture::ActivityKind::kernel) model::add_ns(gpu_ns, it->second.gpu_ns);
  }
  if (gpu_ns > 0) measured.share = static_cast<double>(counters.covered_ns) / static_cast<double>(gpu_ns);
  return measured;
}

ConfigFigures LaunchGroups::config_of(const LaunchId& id, const LaunchSum& sum, std::size_t iterations) const {
  const capture::LaunchKey& key = timeline_.configs[id.config].key;
  const auto size = [](const capture::Dim3& it) { return fmt::format("{}x{}x{}", it.x, it.y, it.z); };
  ConfigFigures made{.name = fmt::format("{} {} {} {} {}", timeline_.kernels[id.kernel].long_name, size(key.grid),
                                         size(key.block), size(key.cluster), key.dynamic_shared_bytes),
                     .launches = static_cast<double>(sum.launches) / static_cast<double>(iterations)};
  const auto measured = timeline_.measured.find(id.config);
  if (measured == timeline_.measured.end() || timeline_.sampled.contains(id.config)) return made;
  for (const auto& [metric, values] : measured->second) {
    if (!metric.ends_with(".sum")) continue;
    model::Spread spread;
    for (const double value : values) spread.add(value);
    if (const auto mean = spread.mean()) made.means.emplace(metric, *mean);
  }
  return made;
}

void LaunchGroups::describe(RunFigures& figures) const {
  const Range all{sums_.begin(), sums_.end()};
  figures.fill = fill_of(all);
  figures.measured = measured_of(all, 0);
  double gpu_ns = 0;
  double tc_ns = 0;
  for (const auto& [id, sum] : sums_) {
    gpu_ns += static_cast<double>(sum.gpu_ns);
    if (sum.uses_tc) tc_ns += static_cast<double>(sum.gpu_ns);
  }
  if (gpu_ns > 0) figures.tensor_core_share = tc_ns / gpu_ns;
}

void LaunchGroups::describe(std::uint32_t op, std::size_t iterations, OpFigures& figures) const {
  const Range range = of_op(op);
  figures.fill = fill_of(range);
  figures.measured = measured_of(range, op_rows_.at(op));
  for (auto first = range.first; first != range.second;) {
    const std::uint32_t kernel = first->first.kernel;
    auto end = first;
    KernelFigures& made = figures.kernels.emplace_back();
    made.name = timeline_.kernels[kernel].name;
    made.long_name = timeline_.kernels[kernel].long_name;
    for (; end != range.second && end->first.kernel == kernel; ++end) {
      made.launches += static_cast<double>(end->second.launches) / static_cast<double>(iterations);
      made.gpu_ns += static_cast<double>(end->second.gpu_ns) / static_cast<double>(iterations);
      made.uses_tc |= end->second.uses_tc;
    }
    for (auto it = first; it != end; ++it) {
      if (it->first.config != kNone) figures.configs.push_back(config_of(it->first, it->second, iterations));
    }
    made.fill = fill_of({first, end});
    made.measured = measured_of({first, end}, kernel_rows_.at({op, kernel}));
    first = end;
  }
  std::stable_sort(figures.kernels.begin(), figures.kernels.end(),
                   [](const KernelFigures& a, const KernelFigures& b) { return a.gpu_ns > b.gpu_ns; });
}

}  // namespace dlkprof::advise
