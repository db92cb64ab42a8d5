#include <algorithm>
#include <unordered_map>

#include "model/aggregate/aggregate_parts.h"
#include "model/aggregate/counter_join.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

class KernelRows {
 public:
  explicit KernelRows(const IterationSlice& slice)
      : slice_(slice), counters_(slice.timeline), call_seen_(slice.timeline.calls.size()) {}

  std::vector<KernelRow> make() {
    slice_.for_each_activity([this](std::uint32_t index, const Activity& activity) { add(slice_.op_of(index), activity); });
    std::vector<Counters> counters = counters_.finish(rows_.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row].counters = std::move(counters[row]);
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const KernelRow& a, const KernelRow& b) { return a.gpu.total > b.gpu.total; });
    return std::move(rows_);
  }

 private:
  void add(std::uint32_t op, const Activity& activity) {
    const auto [known, is_new] = index_.try_emplace(std::uint64_t{op} << 32U | activity.kernel, rows_.size());
    if (is_new) {
      rows_.emplace_back();
      rows_.back().kernel = activity.kernel;
      rows_.back().op = op;
    }
    KernelRow& row = rows_[known->second];
    if (is_timed(activity)) row.gpu.add(gpu_ns(activity));  // what has no time is no 0 among the others'
    if (activity.call != kNone && !call_seen_[activity.call]) {
      call_seen_[activity.call] = true;
      const Call& call = slice_.timeline.calls[activity.call];
      row.api.add(elapsed_ns(call.start_ns, call.end_ns));
    }
    const TensorCoreUse use = slice_.tensor_cores.of(activity);
    row.uses_tc |= use.uses;
    row.tc_source = std::max(row.tc_source, use.source);
    counters_.add(known->second, activity);
  }

  const IterationSlice& slice_;
  CounterJoin counters_;
  std::vector<bool> call_seen_;
  std::vector<KernelRow> rows_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // by op and kernel
};

}  // namespace

std::vector<KernelRow> make_kernel_rows(const IterationSlice& slice) { return KernelRows(slice).make(); }

}  // namespace dlkprof::model
