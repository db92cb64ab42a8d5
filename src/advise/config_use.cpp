#include "advise/config_use.h"

#include <algorithm>

#include "model/aggregate/config_counters.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {

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
  for (ConfigUse& use : uses) {
    const model::ConfigCounters counters = model::counters_of_config(timeline, use.config);
    use.values = counters.values();
    use.samples = counters.samples;
  }
  std::stable_sort(uses.begin(), uses.end(), [](const ConfigUse& a, const ConfigUse& b) { return a.gpu_ns > b.gpu_ns; });
  return uses;
}

}  // namespace dlkprof::advise
