// Which of a timeline's kernels use tensor cores, decided once for all of its works.
//
// By counters, the first of these that says anything:
// - Operations that the tensor cores did (sm__ops_path_tensor_...): any at all is a yes.
// - The share of the cycles in which the tensor pipe was active. Below 0.5 % is a no. From there on it is a yes where the cycles
//   are at least 64 a warp. Fewer may be none of matrices: GH100 counts half a cycle of that pipe for each HFMA, and compilers
//   load constants with these. On an H200 the pipe's cycles were exactly half of the HFMA instructions in all kernels of fp32
//   that were measured with both (1 to 87 a warp; 4 % of the cycles in PyTorch's elementwise kernels), while kernels that
//   multiply few columns (GEMV by nvjet) have 21 cycles of matrices. So there the name decides.
// - A share that was sampled counts only as far as it is sure: less half of its 95 % confidence interval, and less what
// neighbours
//   can have left in it. Where that leaves the answer open, as for a kernel of which one launch alone has samples, the name
//   decides.
// What neighbours can leave: the times of kernels and of samples are taken to agree within a microsecond at each end of a launch
// (ours), in which at most the kernel of the run with the largest share went on.
#pragma once

#include <cstdint>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class TensorCoreTable {
 public:
  explicit TensorCoreTable(const Timeline& timeline);
  [[nodiscard]] TensorCoreUse of(const Activity& activity) const { return of(activity.kernel, activity.config); }
  [[nodiscard]] TensorCoreUse of(std::uint32_t kernel, std::uint32_t config) const {
    const bool counted = config != kNone && by_config_[config].source == TensorCoreSource::counter;
    return counted ? by_config_[config] : by_kernel_[kernel];
  }

 private:
  std::vector<TensorCoreUse> by_config_, by_kernel_;
};

}  // namespace dlkprof::model
