#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "model/aggregate/aggregate_parts.h"
#include "model/aggregate/quantile.h"
#include "model/aggregate/undisturbed.h"
#include "model/fold/iterations.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// What the ranges of a line's ops cover, on each thread.
class CpuTime {
 public:
  // `instance`: index into Fold::instances.
  void add(const IterationSlice& slice, std::size_t instance) {
    const std::uint32_t index = slice.fold.instances[instance].range;
    if (index == kNone) return add_ns(outside_ns_, slice.fold.call_ns[instance]);
    const Range& range = slice.timeline.ranges[index];
    threads_[range.thread].add(range.start_ns, range.end_ns);
  }
  [[nodiscard]] std::int64_t total_ns() const {
    std::int64_t total = outside_ns_;
    for (const auto& [thread, covered] : threads_) add_ns(total, covered.covered_ns());
    return total;
  }

 private:
  std::int64_t outside_ns_ = 0;  // calls outside of all ranges
  std::map<std::uint32_t, Flattened> threads_;
};

void add_cpu_times(const IterationSlice& slice, const std::vector<OpsLine*>& line_of_op, Summary& summary) {
  std::map<OpsLine*, CpuTime> times;
  for (std::size_t i = 0; i < slice.fold.instances.size(); ++i) {
    const OpInstance& instance = slice.fold.instances[i];
    OpsLine* line = line_of_op[instance.op];
    if (line == nullptr || !slice.has(instance.iteration)) continue;
    for (OpsLine* one : {&summary.all_ops, line}) times[one].add(slice, i);
  }
  for (const auto& [line, time] : times) line->cpu_ns = time.total_ns();
}

// Ops that launch nothing are wrappers of those that do: their time is counted there.
void add_ops(const IterationSlice& slice, const std::vector<OpRow>& rows, Summary& summary) {
  std::vector<OpsLine*> line_of_op(slice.fold.ops.size(), nullptr);
  std::int64_t tc_ns = 0;
  std::int64_t eligible_ns = 0;
  for (const OpRow& row : rows) {
    if (!row.launches()) continue;
    const bool eligible = slice.fold.ops[row.op].eligible;
    OpsLine& line = row.uses_tc ? summary.tc_ops : eligible ? summary.eligible_without_tc : summary.other_ops;
    line_of_op[row.op] = &line;
    for (OpsLine* one : {&summary.all_ops, &line}) {
      add_ns(one->gpu_ns, row.gpu.total);
      ++one->count;
    }
    if (!eligible) continue;
    add_ns(tc_ns, row.tc_gpu_ns);
    add_ns(eligible_ns, row.gpu.total);
  }
  if (eligible_ns > 0) summary.tc_utilization = 100 * static_cast<double>(tc_ns) / static_cast<double>(eligible_ns);
  add_cpu_times(slice, line_of_op, summary);
}

void add_kernel(OpsLine& line, std::int64_t gpu_ns, std::optional<std::int64_t> api_ns) {
  add_ns(line.gpu_ns, gpu_ns);
  if (line.count++ == 0) {
    line.cpu_ns = api_ns;
  } else if (api_ns) {
    add_ns(line.cpu_ns.emplace(line.cpu_ns.value_or(0)), *api_ns);
  }
}

// Kernels count by name, however many ops launch them.
void add_kernels(const Timeline& timeline, const std::vector<KernelRow>& rows, Summary& summary) {
  struct Total {
    bool found = false, uses_tc = false;
    std::int64_t gpu_ns = 0;
    std::optional<std::int64_t> api_ns;
  };
  std::vector<Total> totals(timeline.kernels.size());
  for (const KernelRow& row : rows) {
    Total& total = totals[row.kernel];
    total.found = true;
    total.uses_tc |= row.uses_tc;
    add_ns(total.gpu_ns, row.gpu.total);
    if (row.api.n > 0) add_ns(total.api_ns.emplace(total.api_ns.value_or(0)), row.api.total);
  }
  for (std::size_t kernel = 0; kernel < totals.size(); ++kernel) {
    const Total& total = totals[kernel];
    if (!total.found) continue;
    const bool is_memory = timeline.kernels[kernel].kind != capture::ActivityKind::kernel;
    OpsLine& line = is_memory ? summary.memory : total.uses_tc ? summary.tc_kernels : summary.other_kernels;
    for (OpsLine* one : {&summary.all_kernels, &line}) add_kernel(*one, total.gpu_ns, total.api_ns);
  }
}

struct Lengths {
  std::size_t n = 0;
  double mean = 0, median = 0, deviation = 0;
};

// `wall_ns`: their sum. At least one.
Lengths describe(std::vector<double> lengths, std::int64_t wall_ns) {
  Lengths found{.n = lengths.size()};
  const auto n = static_cast<double>(lengths.size());
  found.mean = static_cast<double>(wall_ns) / n;
  double squares = 0;
  for (const double length : lengths) squares += (length - found.mean) * (length - found.mean);
  std::sort(lengths.begin(), lengths.end());
  found.median = quantile(lengths, 0.5);
  if (lengths.size() > 1) found.deviation = std::sqrt(squares / (n - 1));
  return found;
}

void add_iterations(const IterationSlice& slice, Summary& summary) {
  const Fold& fold = slice.fold;
  const std::uint32_t first = slice.first_iteration;
  const std::uint32_t last = slice.last_iteration;
  summary.total_iterations = fold.key_nodes_found == 0 ? 0 : fold.iterations.size();
  summary.start_iteration = first;
  summary.stop_iteration = last;
  std::vector<double> lengths;
  for (std::uint32_t i = first; i <= last; ++i) {
    if (!slice.has(i)) continue;
    const std::int64_t length = iteration_length_ns(fold, i);
    lengths.push_back(static_cast<double>(length));
    add_ns(summary.wall_ns, length);
  }
  if (slice.kind == kNone) summary.wall_ns = elapsed_ns(fold.iterations[first].start_ns, iteration_end_ns(fold, last));
  const Lengths found = describe(std::move(lengths), summary.wall_ns);
  summary.aggregated_iterations = found.n;
  summary.mean_iteration_ns = found.mean;
  summary.median_iteration_ns = found.median;
  summary.iteration_deviation_ns = found.deviation;
}

void add_gpu_times(const IterationSlice& slice, Summary& summary) {
  const Fold& fold = slice.fold;
  const std::uint32_t first = slice.first_iteration, last = slice.last_iteration;
  summary.before.iterations = first;
  summary.before.wall_ns = elapsed_ns(fold.iterations.front().start_ns, fold.iterations[first].start_ns);
  summary.after.iterations = fold.iterations.size() - 1 - last;
  summary.after.wall_ns = elapsed_ns(iteration_end_ns(fold, last), fold.iterations.back().stop_ns);
  for (std::size_t i = 0; i < slice.timeline.activities.size(); ++i) {
    const Activity& activity = slice.timeline.activities[i];
    const std::uint32_t iteration = fold.activity_iteration[i];
    if (iteration < first || iteration > last) {
      add_ns((iteration < first ? summary.before : summary.after).gpu_ns, gpu_ns(activity));
    } else if (activity.in_graph && slice.has(iteration)) {
      add_ns(summary.graph_gpu_ns, gpu_ns(activity));
    }
  }
}

}  // namespace

std::vector<KindRow> make_kind_rows(const IterationSlice& slice) {
  const Fold& fold = slice.fold;
  std::vector<KindRow> rows(fold.kinds.size());
  if (rows.empty()) return rows;
  std::vector<std::vector<double>> lengths(rows.size());
  const auto row_of = [&](std::uint32_t iteration) {
    const bool counts = slice.first_iteration <= iteration && iteration <= slice.last_iteration;
    return counts ? fold.iterations[iteration].kind : kNone;
  };
  for (std::uint32_t i = slice.first_iteration; i <= slice.last_iteration; ++i) {
    if (row_of(i) == kNone) continue;
    const std::int64_t length = iteration_length_ns(fold, i);
    lengths[row_of(i)].push_back(static_cast<double>(length));
    add_ns(rows[row_of(i)].wall_ns, length);
  }
  for (std::size_t i = 0; i < slice.timeline.activities.size(); ++i) {
    const std::uint32_t row = row_of(fold.activity_iteration[i]);
    if (row != kNone) add_ns(rows[row].gpu_ns, gpu_ns(slice.timeline.activities[i]));
  }
  for (std::uint32_t kind = 0; kind < rows.size(); ++kind) {
    KindRow& row = rows[kind];
    row.kind = kind;
    row.iterations = lengths[kind].size();
    if (row.iterations == 0) continue;
    const Lengths found = describe(std::move(lengths[kind]), row.wall_ns);
    row.median_ns = found.median;
    row.mean_ns = found.mean;
    row.deviation_ns = found.deviation;
  }
  std::erase_if(rows, [](const KindRow& row) { return row.iterations == 0; });
  return rows;
}

Summary make_summary(const IterationSlice& slice, const Aggregate& aggregate) {
  Summary summary;
  add_iterations(slice, summary);
  summary.mixed_kinds = aggregate.is_mixed();
  add_gpu_times(slice, summary);
  // Steps that the program took by itself are not known by what they launched: of several kinds nobody can say which they were.
  if (slice.fold.kinds.empty())
    summary.undisturbed = undisturbed_iterations(slice.timeline, slice.fold, slice.first_iteration, slice.last_iteration);
  summary.share = find_shares(slice);
  add_ops(slice, aggregate.ops, summary);
  add_kernels(slice.timeline, aggregate.kernels, summary);
  return summary;
}

}  // namespace dlkprof::model
