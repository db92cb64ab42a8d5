// The GPU time behind a run's coverage, from the timeline: while there is one, the injected library does not sum it itself.
#pragma once

#include <span>

#include "model/run.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Adds it to the runs' launch keys and coverage. `timeline` is of the same captures, in the same order.
void add_gpu_times(std::span<Run> runs, const Timeline& timeline);

}  // namespace dlkprof::model
