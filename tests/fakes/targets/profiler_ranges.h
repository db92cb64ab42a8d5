// Programs that call cuProfilerStart and cuProfilerStop on another thread than the one that launches.
#pragma once

#include <string>

#include "targets/training.h"

namespace target {

// One letter after another: s starts and e stops the profiler, on the calling thread; l launches a step, on another. What was
// computed.
std::string launch_between(Entry entry, const std::string& letters);

// Starts and stops so many times while another thread launches so many steps. What was computed.
std::string launch_across(Entry entry, int rounds, int steps);

}  // namespace target
