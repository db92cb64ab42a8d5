#include <algorithm>
#include <tuple>

#include "model/aggregate/aggregate_parts.h"
#include "model/aggregate/counter_join.h"
#include "model/fold/instance_activities.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// Adds the instances that count, and GPU times of those that launch work that does.
void add_instances(const IterationSlice& slice, std::vector<OpRow>& rows) {
  const std::vector<OpInstance>& instances = slice.fold.instances;
  const InstanceActivities activities(slice.timeline, slice.fold);
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const OpInstance& instance = instances[i];
    OpRow& row = rows[instance.op];
    const bool counts = slice.has(instance.iteration);
    std::int64_t selected_ns = 0;
    for (const std::uint32_t activity : activities[i]) {
      if (slice.has(slice.fold.activity_iteration[activity])) add_ns(selected_ns, gpu_ns(slice.timeline.activities[activity]));
    }
    if (counts || selected_ns > 0) row.gpu.add(selected_ns);
    if (!counts) continue;
    const CpuTimes cpu = cpu_times(slice.timeline, slice.fold, i);
    row.cpu.add(cpu.cpu_ns);
    row.overhead.add(cpu.overhead_ns);
    const GpuTimes gpu = activities.times(i);
    row.idle.add(gpu.idle_ns);
    row.mapped.add(gpu.mapped_ns);
  }
}

void add_activities(const IterationSlice& slice, std::vector<OpRow>& rows) {
  CounterJoin join(slice.timeline);
  slice.for_each_activity([&](std::uint32_t index, const Activity& activity) {
    OpRow& row = rows[slice.op_of(index)];
    const TensorCoreUse use = slice.tensor_cores.of(activity);
    if (use.uses) add_ns(row.tc_gpu_ns, gpu_ns(activity));
    if (use.source == TensorCoreSource::counter) add_ns(row.tc_counted_ns, gpu_ns(activity));
    join.add(row.op, activity);
  });
  std::vector<Counters> counters = join.finish(rows.size());
  for (std::size_t op = 0; op < rows.size(); ++op) rows[op].counters = std::move(counters[op]);
}

void add_kernels(const std::vector<KernelRow>& kernels, std::vector<OpRow>& rows) {
  for (const KernelRow& kernel : kernels) {
    OpRow& row = rows[kernel.op];
    // The source is that of the verdict: of the kernels that use them where any does.
    if (kernel.uses_tc && !row.uses_tc) row.tc_source = TensorCoreSource::unknown;
    row.uses_tc |= kernel.uses_tc;
    if (kernel.uses_tc == row.uses_tc) row.tc_source = std::max(row.tc_source, kernel.tc_source);
    (kernel.uses_tc ? row.tc_kernels : row.others).push_back(kernel.kernel);
    if (kernel.counters.samples > 0) ++row.kernels_measured;
  }
}

}  // namespace

std::vector<OpRow> make_op_rows(const IterationSlice& slice, const std::vector<KernelRow>& kernels) {
  std::vector<OpRow> rows(slice.fold.ops.size());
  for (std::uint32_t op = 0; op < rows.size(); ++op) rows[op].op = op;
  add_instances(slice, rows);
  add_activities(slice, rows);
  add_kernels(kernels, rows);
  std::erase_if(rows, [](const OpRow& row) { return row.cpu.n == 0 && row.tc_kernels.empty() && row.others.empty(); });
  const auto order = [](const OpRow& row) { return std::tuple(-row.gpu.total, -row.cpu.total, row.op); };
  std::sort(rows.begin(), rows.end(), [&](const OpRow& a, const OpRow& b) { return order(a) < order(b); });
  return rows;
}

}  // namespace dlkprof::model
