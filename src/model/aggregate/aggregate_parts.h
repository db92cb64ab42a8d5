// The parts of aggregate(): a function for each kind of row.
#pragma once

#include <cstdint>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/aggregate/tensor_core_use.h"
#include "model/fold/fold.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// What rows are made of: a fold, and the iterations of it that count.
struct IterationSlice {
  const Timeline& timeline;
  const Fold& fold;
  std::uint32_t first_iteration = 0, last_iteration = 0;  // inclusive
  TensorCoreTable tensor_cores;
  std::uint32_t kind = kNone;  // as Aggregate::kind

  [[nodiscard]] bool has(std::uint32_t iteration) const {
    return first_iteration <= iteration && iteration <= last_iteration &&
           (kind == kNone || fold.iterations[iteration].kind == kind);
  }
  [[nodiscard]] std::uint32_t op_of(std::size_t activity) const { return fold.instances[fold.activity_instance[activity]].op; }
  // Calls `visit(index, work)` for the works that count, in their order.
  template <typename Visit>
  void for_each_activity(Visit visit) const {
    for (std::uint32_t i = 0; i < timeline.activities.size(); ++i) {
      if (has(fold.activity_iteration[i])) visit(i, timeline.activities[i]);
    }
  }
};

[[nodiscard]] std::vector<KernelRow> make_kernel_rows(const IterationSlice& slice);
[[nodiscard]] std::vector<OpRow> make_op_rows(const IterationSlice& slice, const std::vector<KernelRow>& kernels);
[[nodiscard]] std::vector<OpTypeRow> make_type_rows(const IterationSlice& slice, const std::vector<OpRow>& ops);
[[nodiscard]] std::vector<GroupRow> make_group_rows(const IterationSlice& slice, const std::vector<OpRow>& ops);

[[nodiscard]] std::vector<KindRow> make_kind_rows(const IterationSlice& slice);

[[nodiscard]] Duration find_shares(const IterationSlice& slice);
// From the rows of `aggregate`.
[[nodiscard]] Summary make_summary(const IterationSlice& slice, const Aggregate& aggregate);

}  // namespace dlkprof::model
