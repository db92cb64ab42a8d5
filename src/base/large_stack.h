// Runs a function on a stack that is large whatever the calling thread has: the program's threads may have 16 kB, and a reader's
// 8 MB end too where a hostile name says how deep a call goes.
#pragma once

#include <cstddef>

namespace dlkprof {

inline constexpr std::size_t kLargeStackBytes = std::size_t{1} << 26U;

// Calls body(argument), which must not throw nor end the thread. Only touched pages take memory. False where there is no room for
// the stack (RLIMIT_AS); nothing was called then.
[[nodiscard]] bool run_on_large_stack(void (*body)(void*) noexcept, void* argument) noexcept;

}  // namespace dlkprof
