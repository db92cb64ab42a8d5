// What shows every event, and no sums, needs to know of a run, which takes less memory and time than all.
#pragma once

#include "model/aggregate/aggregate.h"
#include "model/fold/fold.h"

namespace dlkprof::model {

// fold() without Fold::call_ns, so that cpu_times() is not to be asked.
[[nodiscard]] Fold fold_places(const Timeline& timeline, const FoldOptions& options);

// aggregate() without sums and rows: only which iterations they would be of.
[[nodiscard]] Aggregate aggregated_range(const Fold& fold, const IterationRange& range);

// The kind of iterations that is asked for: index into Fold::kinds, by its name or by its number from 1. Throws UsageError.
[[nodiscard]] std::uint32_t find_kind(const Fold& fold, const std::string& asked);

}  // namespace dlkprof::model
