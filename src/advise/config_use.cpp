#include "advise/config_use.h"

#include <algorithm>
#include <cmath>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {
namespace {

void add_measured(const model::Timeline& timeline, ConfigUse& use) {
  const auto measured = timeline.measured.find(use.config);
  if (measured == timeline.measured.end()) return;
  for (const auto& [metric, values] : measured->second) {
    double sum = 0;
    std::size_t n = 0;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++n;
    }
    if (n > 0 && std::isfinite(sum)) use.values[metric] = sum / static_cast<double>(n);
    use.samples = std::max<std::uint64_t>(use.samples, values.size());
  }
}

}  // namespace

std::vector<ConfigUse> config_uses(const model::Profile& profile) {
  const model::Timeline& timeline = profile.timeline;
  std::vector<ConfigUse> uses(timeline.configs.size());
  for (std::size_t i = 0; i < timeline.activities.size(); ++i) {
    const model::Activity& activity = timeline.activities[i];
    if (activity.config == model::kNone || !is_aggregated(profile, i)) continue;
    ConfigUse& use = uses[activity.config];
    use.config = activity.config;
    use.kernel = activity.kernel;
    use.device = activity.device;
    ++use.launches;
    if (model::is_timed(activity)) ++use.timed;
    model::add_ns(use.gpu_ns, model::gpu_ns(activity));
  }
  std::erase_if(uses, [](const ConfigUse& use) { return use.launches == 0; });
  for (ConfigUse& use : uses) add_measured(timeline, use);
  std::stable_sort(uses.begin(), uses.end(), [](const ConfigUse& a, const ConfigUse& b) { return a.gpu_ns > b.gpu_ns; });
  return uses;
}

}  // namespace dlkprof::advise
