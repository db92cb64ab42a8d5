// What programs do that a profiler in them must bear.
#pragma once

#include <string>

namespace target {

// Closes all descriptors from 3 to 8191, as daemons do, then opens 40 files in the current folder and leaves `bytes` in each.
// Returns how many of them hold just that when `meanwhile` is over.
std::string close_all(int bytes, void (*meanwhile)());

// Closes each descriptor that somebody else opened and this program did not, then goes on like close_all().
std::string close_twice(int bytes, void (*meanwhile)());

// Starts so many threads, one after the other, each of which does `forever` until it is cancelled.
std::string cancel_threads(int threads, void (*forever)());

// Lets stderr be a pipe that nobody reads, with SIGPIPE at its default, or a file that may not grow, with SIGXFSZ at its.
void break_stderr(const std::string& how);

}  // namespace target
