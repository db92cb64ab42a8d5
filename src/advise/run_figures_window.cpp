#include <algorithm>

#include "advise/run_figures_parts.h"
#include "model/fold/iterations.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {

Window::Window(const model::Profile& profile)
    : has_iterations_(profile.fold.key_nodes_found > 1),
      first_(profile.aggregate.first_iteration),
      last_(profile.aggregate.last_iteration) {
  const model::Fold& fold = profile.fold;
  std::int64_t reached = fold.iterations[first_].start_ns;
  bounds_.push_back(reached);
  for (std::uint32_t i = first_; i <= last_; ++i) {
    reached = std::max(reached, model::iteration_end_ns(fold, i));
    if (!has_iterations_ && i != last_) continue;
    bounds_.push_back(reached);
    const bool counts = !has_iterations_ || profile.aggregate.has(fold, i);
    numbers_.push_back(counts ? static_cast<std::uint32_t>(count_++) : model::kNone);
  }
}

bool Window::has(std::int64_t time_ns) const {
  const auto after = std::upper_bound(bounds_.begin(), bounds_.end(), time_ns);
  return after != bounds_.begin() && after != bounds_.end() && counts(static_cast<std::size_t>(after - bounds_.begin()) - 1);
}

std::vector<double> Window::lengths() const {
  std::vector<double> lengths;
  for (std::size_t i = 0; i + 1 < bounds_.size(); ++i) {
    if (!counts(i)) continue;
    lengths.push_back(static_cast<double>(model::elapsed_ns(bounds_[i], bounds_[i + 1])));
  }
  return lengths;
}

void BusyTimes::add(std::uint32_t device, std::int64_t start, std::int64_t end) {
  Gpu& gpu = gpus_[device];
  if (gpu.began) start = std::max(start, gpu.reached);
  if (end <= start) return;
  gpu.began = true;
  gpu.reached = end;
  const std::vector<std::int64_t>& bounds = window_.bounds();
  while (gpu.iteration < busy_ns_.size() && bounds[gpu.iteration + 1] <= start) ++gpu.iteration;
  for (std::size_t i = gpu.iteration; i < busy_ns_.size() && bounds[i] < end; ++i) {
    busy_ns_[i] += static_cast<double>(model::elapsed_ns(std::max(start, bounds[i]), std::min(end, bounds[i + 1])));
  }
}

std::optional<Spread> BusyTimes::utilization() const {
  if (gpus_.empty()) return std::nullopt;
  const std::vector<std::int64_t>& bounds = window_.bounds();
  std::vector<double> shares;
  for (std::size_t i = 0; i < busy_ns_.size(); ++i) {
    const auto length = static_cast<double>(model::elapsed_ns(bounds[i], bounds[i + 1]));
    if (length > 0 && window_.counts(i)) shares.push_back(busy_ns_[i] / length / static_cast<double>(gpus_.size()));
  }
  return shares.empty() ? std::nullopt : std::optional(spread_of(std::move(shares)));
}

}  // namespace dlkprof::advise
