#include "model/aggregate/aggregate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "model/aggregate/aggregate_parts.h"
#include "model/fold/places.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

void check_range(std::uint32_t first, std::uint32_t last, std::size_t iterations) {
  const std::string there_are = fmt::format("There are iterations 0 to {}.", iterations - 1);
  if (first >= iterations) throw UsageError(fmt::format("--iter_start: there is no iteration {}", first), "", there_are);
  if (last >= iterations) throw UsageError(fmt::format("--iter_stop: there is no iteration {}", last), "", there_are);
  if (first > last) {
    throw UsageError(fmt::format("--iter_start {} is after --iter_stop {}", first, last), "", there_are);
  }
}

}  // namespace

void Stats::add(std::int64_t value) {
  least = n == 0 ? value : std::min(least, value);
  most = n == 0 ? value : std::max(most, value);
  add_ns(total, value);
  ++n;
}

Aggregate aggregated_range(const Fold& fold, const IterationRange& range) {
  Aggregate made;
  made.steady = find_steady_range(fold);
  made.first_iteration = made.steady.first;
  made.last_iteration = made.steady.last;
  made.range_source = made.steady.found ? RangeSource::found : RangeSource::all;
  if (range.is_asked()) {
    made.first_iteration = range.start.value_or(0);
    made.last_iteration = range.stop.value_or(static_cast<std::uint32_t>(fold.iterations.size() - 1));
    made.range_source = RangeSource::asked;
    check_range(made.first_iteration, made.last_iteration, fold.iterations.size());
  }
  return made;
}

Aggregate aggregate(const Timeline& timeline, const Fold& fold, const IterationRange& range) {
  Aggregate made = aggregated_range(fold, range);
  const IterationSlice slice{timeline, fold, made.first_iteration, made.last_iteration, TensorCoreTable(timeline)};
  made.kernels = make_kernel_rows(slice);
  made.ops = make_op_rows(slice, made.kernels);
  made.types = make_type_rows(slice, made.ops);
  made.groups = make_group_rows(slice, made.ops);
  made.summary = make_summary(slice, made);
  return made;
}

}  // namespace dlkprof::model
