#include "advise/compare/gate_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/compare/compare_stats.h"

namespace dlkprof::advise {
namespace {

bool is_gpu_bound(const RunFigures& run) { return run.utilization && run.utilization->median >= kGpuBound; }

std::vector<double> without(const std::vector<double>& values, const std::vector<std::uint32_t>& left_out) {
  std::vector<double> kept;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (!std::binary_search(left_out.begin(), left_out.end(), i)) kept.push_back(values[i]);
  }
  return kept;
}

TimePair pair_of(std::string what, std::vector<double> base, std::vector<double> other) {
  TimePair pair{.what = std::move(what), .base = std::move(base), .other = std::move(other)};
  pair.base_spread = spread_of(pair.base);
  pair.other_spread = spread_of(pair.other);
  return pair;
}

template <typename Figures>
TimePair gpu_times(const Figures& base, const Figures& other, std::string what, double launches) {
  TimePair pair = pair_of(std::move(what), without(base.gpu_ns, base.part_timed), without(other.gpu_ns, other.part_timed));
  pair.factor = 1 + kRunsDifferShare;
  pair.extra_ns = kRunsDifferNs * std::sqrt(launches);
  const double all_ns = kRunsDifferShare * pair.base_spread.median + pair.extra_ns;
  pair.because = fmt::format("two runs of one program may differ by {:.2g} us", all_ns / 1e3);
  return pair;
}

void allow_slower_cpu(const std::optional<double>& cpu, TimePair& pair) {
  if (!cpu || *cpu <= 1) return;
  pair.factor = *cpu;
  pair.because = fmt::format("the CPU took {:.3g} % longer for the same launch calls", 100 * (*cpu - 1));
}

}  // namespace

std::optional<double> cpu_ratio(const RunFigures& base, const RunFigures& other) {
  if (is_gpu_bound(base) || is_gpu_bound(other)) return std::nullopt;
  double base_ns = 0, other_ns = 0;
  for (const auto& [name, calls] : base.launch_calls) {
    const auto found = other.launch_calls.find(name);
    if (found == other.launch_calls.end() || calls.n < kLeastValues || found->second.n < kLeastValues) continue;
    if (name.find("Graph") != std::string::npos && base.kernels.median != other.kernels.median) continue;
    base_ns += static_cast<double>(calls.n) * calls.median;
    other_ns += static_cast<double>(calls.n) * found->second.median;
  }
  return base_ns > 0 ? std::optional(other_ns / base_ns) : std::nullopt;
}

TimePair iteration_pair(const RunFigures& base, const RunFigures& other) {
  const auto lengths = [](const RunFigures& run) { return run.has_iterations ? run.iteration_ns : std::vector<double>(); };
  TimePair pair = pair_of("the iteration time", lengths(base), lengths(other));
  allow_slower_cpu(cpu_ratio(base, other), pair);
  return pair;
}

std::vector<TimePair> kind_pairs(const RunFigures& base, const RunFigures& other, bool of_gpu) {
  std::vector<TimePair> pairs;
  const std::optional<double> cpu = cpu_ratio(base, other);
  for (const KindFigures& one : base.kinds) {
    const KindFigures* found = other.find_kind(one.name);
    if (found == nullptr) continue;
    const std::string what = fmt::format("the {} of {} iterations", of_gpu ? "GPU time" : "time", one.name);
    if (of_gpu) {
      pairs.push_back(gpu_times(one, *found, what, base.kernels.median + base.copies.median));
    } else {
      allow_slower_cpu(cpu, pairs.emplace_back(pair_of(what, one.iteration_ns, found->iteration_ns)));
    }
  }
  return pairs;
}

TimePair gpu_pair(const RunFigures& base, const RunFigures& other) {
  return gpu_times(base, other, "the GPU time", base.kernels.median + base.copies.median);
}

TimePair gpu_pair(const OpFigures& base, const OpFigures& other, std::string what) {
  double launches = 0;
  for (const KernelFigures& kernel : base.kernels) launches += kernel.launches;
  TimePair pair = gpu_times(base, other, std::move(what), launches);
  pair.values = base.values;
  return pair;
}

void test_times(std::vector<TimePair>& pairs, double most_percent) {
  std::vector<std::optional<double>> differ, beyond;
  for (const TimePair& pair : pairs) {
    differ.push_back(mann_whitney(pair.base, pair.other));
    std::vector<double> allowed;
    for (const double value : pair.base) allowed.push_back(allowed_ns(pair, value, most_percent));
    beyond.push_back(mann_whitney(allowed, pair.other));
  }
  correct_for_many(differ);
  correct_for_many(beyond);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].p_differ = differ[i];
    pairs[i].p_beyond = beyond[i];
  }
}

}  // namespace dlkprof::advise
