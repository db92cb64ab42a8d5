#include "advise/config_use.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/aggregate/config_counters.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::advise {

namespace {

// GPU time of configurations by op; of what was not timed a nanosecond, so that it counts at all.
class TimesOfOps {
 public:
  void add(std::uint32_t config, std::uint32_t op, std::int64_t gpu_ns) {
    std::int64_t& sum = times_[{config, op}];
    model::add_ns(sum, std::max<std::int64_t>(gpu_ns, 1));
  }
  void set_ops(std::vector<ConfigUse>& uses) const {
    std::int64_t most = 0;
    for (const auto& [config_and_op, ns] : times_) {
      ConfigUse& use = uses[config_and_op.first];
      if (use.ops++ > 0 && ns <= most) continue;
      use.op = config_and_op.second;
      most = ns;
    }
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> times_;
};

}  // namespace

std::vector<ConfigUse> config_uses(const model::Profile& profile) {
  const model::Timeline& timeline = profile.timeline;
  std::vector<ConfigUse> uses(timeline.configs.size());
  TimesOfOps times;
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
    const std::uint32_t instance = profile.fold.activity_instance[i];
    if (instance != model::kNone) times.add(activity.config, profile.fold.instances[instance].op, model::gpu_ns(activity));
  }
  times.set_ops(uses);
  std::erase_if(uses, [](const ConfigUse& use) { return use.launches == 0; });
  for (ConfigUse& use : uses) {
    const model::ConfigCounters counters = model::counters_of_config(timeline, use.config);
    use.values = counters.values();
    use.samples = counters.samples;
    use.replay_modes = counters.replay_modes;
  }
  std::stable_sort(uses.begin(), uses.end(), [](const ConfigUse& a, const ConfigUse& b) { return a.gpu_ns > b.gpu_ns; });
  return uses;
}

}  // namespace dlkprof::advise
