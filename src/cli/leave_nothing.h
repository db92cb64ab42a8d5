// Being ended in the middle of writing a file.
#pragma once

namespace dlkprof::cli {

// From now on a signal that ends this process (Ctrl-C, a pipe that nobody reads) first removes what is not a whole file yet.
// Signals that are ignored or handled stay so; a program that we start gets them as they were.
void leave_nothing_behind() noexcept;

}  // namespace dlkprof::cli
