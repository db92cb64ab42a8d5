// Which of a timeline's kernels use tensor cores, decided once for all of its works.
#pragma once

#include <cstdint>
#include <vector>

#include "model/aggregate.h"
#include "model/timeline.h"

namespace dlkprof::model {

class TensorCoreTable {
 public:
  explicit TensorCoreTable(const Timeline& timeline);
  [[nodiscard]] TensorCoreUse of(const Work& work) const {
    if (work.config != kNone && by_config_[work.config].source == TensorCoreSource::counter) return by_config_[work.config];
    return by_kernel_[work.kernel];
  }

 private:
  std::vector<TensorCoreUse> by_config_, by_kernel_;
};

}  // namespace dlkprof::model
