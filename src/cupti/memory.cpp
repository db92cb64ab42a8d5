#include "cupti/memory.h"

#include <algorithm>

namespace dlkprof::cupti {

MemoryUse memory_use(const Driver& driver) {
  std::size_t free = 0, total = 0;
  check(driver, driver.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return {.used_bytes = total - std::min(free, total), .free_bytes = free};
}

}  // namespace dlkprof::cupti
