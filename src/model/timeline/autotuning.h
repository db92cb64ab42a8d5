// Launches of autotuning: what Triton and Inductor run to find the fastest of several kernels is no part of the program's steps.
// python/dlkprof/_tuning.py puts them into ranges of their own.
#pragma once

#include <vector>

#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Of each range whether it is one of autotuning or lies in one; empty where there is none. Ranges are in the timeline's order.
[[nodiscard]] std::vector<bool> find_autotuning(const Timeline& timeline);

// Takes the calls and works in such ranges out of a timeline in order; a notice counts them.
void leave_out_autotuning(Timeline& timeline);

}  // namespace dlkprof::model
