#include "model/aggregate/aggregate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "model/aggregate/aggregate_parts.h"
#include "model/fold/places.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

constexpr std::size_t kMostKindColumns = 40;

void check_range(std::uint32_t first, std::uint32_t last, std::size_t iterations) {
  const std::string there_are = fmt::format("There are iterations 0 to {}.", iterations - 1);
  if (first >= iterations) throw UsageError(fmt::format("--iter_start: there is no iteration {}", first), "", there_are);
  if (last >= iterations) throw UsageError(fmt::format("--iter_stop: there is no iteration {}", last), "", there_are);
  if (first > last) {
    throw UsageError(fmt::format("--iter_start {} is after --iter_stop {}", first, last), "", there_are);
  }
}

}  // namespace

std::uint32_t find_kind(const Fold& fold, const std::string& asked) {
  std::string names;
  for (std::uint32_t i = 0; i < fold.kinds.size(); ++i) {
    if (asked == fold.kinds[i].name || asked == std::to_string(i + 1)) return i;
    names += (i == 0 ? "" : ", ") + printable(fold.kinds[i].name, kMostKindColumns);
  }
  throw UsageError(fmt::format("--iter_kind: there are no iterations of kind {}", printable(asked, kMostKindColumns)), "",
                   names.empty() ? "All iterations of this run are of one kind: leave it out." : "There are: " + names);
}

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
  if (range.kind.empty()) return made;
  made.kind = find_kind(fold, range.kind);
  for (std::uint32_t i = made.first_iteration; i <= made.last_iteration; ++i) {
    if (made.has(fold, i)) return made;
  }
  throw UsageError(fmt::format("--iter_kind: iterations {} to {} have none of kind {}", made.first_iteration, made.last_iteration,
                               fold.kinds[made.kind].name),
                   "", "Give others with --iter_start and --iter_stop, or leave these out.");
}

Aggregate aggregate(const Timeline& timeline, const Fold& fold, const IterationRange& range) {
  Aggregate made = aggregated_range(fold, range);
  const IterationSlice slice{timeline, fold, made.first_iteration, made.last_iteration, TensorCoreTable(timeline), made.kind};
  made.kernels = make_kernel_rows(slice);
  made.ops = make_op_rows(slice, made.kernels);
  made.types = make_type_rows(slice, made.ops);
  made.groups = make_group_rows(slice, made.ops);
  made.kinds = make_kind_rows(slice);
  made.summary = make_summary(slice, made);
  return made;
}

}  // namespace dlkprof::model
