// GPU memory of the current context's device, as far as a replay needs to know it.
#pragma once

#include <cstdint>

#include "cupti/driver.h"

namespace dlkprof::cupti {

struct MemoryUse {
  std::uint64_t used_bytes = 0;  // of all processes and contexts on the device
  std::uint64_t free_bytes = 0;
};

// cuMemGetInfo; throws Error.
[[nodiscard]] MemoryUse memory_use(const Driver& driver);

}  // namespace dlkprof::cupti
