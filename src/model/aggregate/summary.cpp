#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "model/aggregate/aggregate_parts.h"
#include "model/aggregate/quantile.h"
#include "model/fold/iterations.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

void add_line(OpsLine& line, std::int64_t gpu_ns, std::int64_t cpu_ns) {
  add_ns(line.gpu_ns, gpu_ns);
  add_ns(line.cpu_ns, cpu_ns);
  ++line.count;
}

void add_ops(const Fold& fold, const std::vector<OpRow>& rows, Summary& summary) {
  std::int64_t tc_ns = 0;
  std::int64_t eligible_ns = 0;
  for (const OpRow& row : rows) {
    const bool eligible = fold.ops[row.op].eligible;
    OpsLine& line = row.uses_tc ? summary.tc_ops : eligible ? summary.eligible_without_tc : summary.other_ops;
    for (OpsLine* one : {&summary.all_ops, &line}) add_line(*one, row.gpu.total, row.cpu.total);
    if (!eligible) continue;
    add_ns(tc_ns, row.tc_gpu_ns);
    add_ns(eligible_ns, row.gpu.total);
  }
  if (eligible_ns > 0) summary.tc_utilization = 100 * static_cast<double>(tc_ns) / static_cast<double>(eligible_ns);
}

// Kernels count by name, however many ops launch them.
void add_kernels(const Timeline& timeline, const std::vector<KernelRow>& rows, Summary& summary) {
  struct Total {
    bool found = false, uses_tc = false;
    std::int64_t gpu_ns = 0, api_ns = 0;
  };
  std::vector<Total> totals(timeline.kernels.size());
  for (const KernelRow& row : rows) {
    Total& total = totals[row.kernel];
    total.found = true;
    total.uses_tc |= row.uses_tc;
    add_ns(total.gpu_ns, row.gpu.total);
    add_ns(total.api_ns, row.api.total);
  }
  for (std::size_t kernel = 0; kernel < totals.size(); ++kernel) {
    const Total& total = totals[kernel];
    if (!total.found) continue;
    const bool is_memory = timeline.kernels[kernel].kind != capture::ActivityKind::kernel;
    OpsLine& line = is_memory ? summary.memory : total.uses_tc ? summary.tc_kernels : summary.other_kernels;
    for (OpsLine* one : {&summary.all_kernels, &line}) add_line(*one, total.gpu_ns, total.api_ns);
  }
}

void add_iterations(const IterationSlice& slice, Summary& summary) {
  const Fold& fold = slice.fold;
  const std::uint32_t first = slice.first_iteration;
  const std::uint32_t last = slice.last_iteration;
  summary.total_iterations = fold.key_nodes_found == 0 ? 0 : fold.iterations.size();
  summary.aggregated_iterations = std::uint64_t{last} - first + 1;
  summary.start_iteration = first;
  summary.stop_iteration = last;
  summary.wall_ns = elapsed_ns(fold.iterations[first].start_ns, iteration_end_ns(fold, last));
  const auto n = static_cast<double>(summary.aggregated_iterations);
  summary.mean_iteration_ns = static_cast<double>(summary.wall_ns) / n;
  std::vector<double> lengths;
  double squares = 0;
  for (std::uint32_t i = first; i <= last; ++i) {
    const double length = lengths.emplace_back(static_cast<double>(iteration_length_ns(fold, i)));
    squares += (length - summary.mean_iteration_ns) * (length - summary.mean_iteration_ns);
  }
  std::sort(lengths.begin(), lengths.end());
  summary.median_iteration_ns = quantile(lengths, 0.5);
  if (first < last) summary.iteration_deviation_ns = std::sqrt(squares / (n - 1));
}

void add_left_out(const IterationSlice& slice, Summary& summary) {
  const Fold& fold = slice.fold;
  const std::uint32_t first = slice.first_iteration, last = slice.last_iteration;
  summary.before.iterations = first;
  summary.before.wall_ns = elapsed_ns(fold.iterations.front().start_ns, fold.iterations[first].start_ns);
  summary.after.iterations = fold.iterations.size() - 1 - last;
  summary.after.wall_ns = elapsed_ns(iteration_end_ns(fold, last), fold.iterations.back().stop_ns);
  for (std::size_t i = 0; i < slice.timeline.activities.size(); ++i) {
    const std::uint32_t iteration = fold.activity_iteration[i];
    if (slice.has(iteration)) continue;
    add_ns((iteration < first ? summary.before : summary.after).gpu_ns, gpu_ns(slice.timeline.activities[i]));
  }
}

}  // namespace

Summary make_summary(const IterationSlice& slice, const Aggregate& aggregate) {
  Summary summary;
  add_iterations(slice, summary);
  add_left_out(slice, summary);
  summary.share = find_shares(slice);
  add_ops(slice.fold, aggregate.ops, summary);
  add_kernels(slice.timeline, aggregate.kernels, summary);
  return summary;
}

}  // namespace dlkprof::model
