// More of what programs do that a profiler in them must bear, as steps of their own.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace target {

// By name; each takes what stands behind the name. `launch_some` launches a few kernels in a context of the calling thread.
std::map<std::string, std::function<void(const std::string&)>> hostile_steps(void (*launch_some)());

// For marks and messages that are printed on stdout.
void report(const char* step, const std::string& result);

}  // namespace target
