#include "model/instance_works.h"

#include "model/time_arithmetic.h"

namespace dlkprof::model {

InstanceWorks::InstanceWorks(const Timeline& timeline, const Fold& fold)
    : timeline_(timeline),
      works_(timeline.works.size(), fold.instances.size(), [&](std::size_t i) { return std::size_t{fold.work_instance[i]}; }) {}

GpuTimes InstanceWorks::times(std::size_t instance) const {
  GpuTimes times;
  Flattened flat;
  for (const std::uint32_t index : works_[instance]) {
    const Work& work = timeline_.works[index];
    if (!is_timed(work)) continue;
    add_ns(times.gpu_ns, gpu_ns(work));
    flat.add(work.start_ns, work.end_ns);
  }
  times.mapped_ns = flat.extent_ns();
  times.idle_ns = flat.idle_ns();
  return times;
}

}  // namespace dlkprof::model
