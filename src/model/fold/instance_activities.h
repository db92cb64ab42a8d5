// The works of each op instance, and what they say of it. Found when asked for: there are millions of instances, most without
// work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/aggregate/grouped_indices.h"
#include "model/fold/fold.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

struct GpuTimes {
  std::int64_t gpu_ns = 0;     // sum over the instance's own kernels, copies and sets
  std::int64_t mapped_ns = 0;  // from its first one's start to its last one's end
  std::int64_t idle_ns = 0;    // of which no kernel of it was running
};

class InstanceActivities {
 public:
  // Both must outlive it.
  InstanceActivities(const Timeline& timeline, const Fold& fold);

  // Indices into Timeline::activities, in their order. `instance`: index into Fold::instances.
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t instance) const { return works_[instance]; }
  [[nodiscard]] GpuTimes times(std::size_t instance) const;

 private:
  const Timeline& timeline_;
  GroupedIndices works_;
};

}  // namespace dlkprof::model
