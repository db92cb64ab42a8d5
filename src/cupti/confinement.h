// Takes from a process what it does not need to compute: whoever is led astray by bytes of a file can do no more than that.
#pragma once

#include <cstddef>

namespace dlkprof::cupti {

// This process keeps `fd` and its memory, of which it may take `more_bytes` more. From now on it opens, creates and runs nothing,
// starts no process and no thread, and reaches no other process and no network; it leaves no core file, and ends when its parent
// does. False where the system does not let a process confine itself so (seccomp).
[[nodiscard]] bool confine(int fd, std::size_t more_bytes) noexcept;

}  // namespace dlkprof::cupti
