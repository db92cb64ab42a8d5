#include "model/fold/instance_activities.h"

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {

InstanceActivities::InstanceActivities(const Timeline& timeline, const Fold& fold)
    : timeline_(timeline), works_(timeline.activities.size(), fold.instances.size(), [&](std::size_t i) {
        return std::size_t{fold.activity_instance[i]};
      }) {}

GpuTimes InstanceActivities::times(std::size_t instance) const {
  GpuTimes times;
  Flattened flat;
  for (const std::uint32_t index : works_[instance]) {
    const Activity& activity = timeline_.activities[index];
    if (!is_timed(activity)) continue;
    add_ns(times.gpu_ns, gpu_ns(activity));
    flat.add(activity.start_ns, activity.end_ns);
  }
  times.mapped_ns = flat.extent_ns();
  times.idle_ns = flat.idle_ns();
  return times;
}

}  // namespace dlkprof::model
