// Which of a timeline's kernels use tensor cores, decided once for all of its works.
#pragma once

#include <cstdint>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class TensorCoreTable {
 public:
  explicit TensorCoreTable(const Timeline& timeline);
  [[nodiscard]] TensorCoreUse of(const Activity& activity) const {
    if (activity.config != kNone && by_config_[activity.config].source == TensorCoreSource::counter)
      return by_config_[activity.config];
    return by_kernel_[activity.kernel];
  }

 private:
  std::vector<TensorCoreUse> by_config_, by_kernel_;
};

}  // namespace dlkprof::model
