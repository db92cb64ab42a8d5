// Memory that a large run gave back is used again.
#pragma once

#include <malloc.h>

namespace dlkprof::cli {

// While it lives, the C library keeps what is freed instead of giving each large array back to the system. A page that is fresh
// from the system must be found and cleared first, on a virtual machine by its host too, which for the gigabytes of a long run
// takes longer than working on them. Only the main thread's heap can hold large arrays: those of others go back to the system all
// the same.
class KeptMemory {
 public:
  KeptMemory() noexcept {
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1);  // never
  }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() {
    (void)mallopt(M_MMAP_MAX, kUsualMappings);
    (void)mallopt(M_TRIM_THRESHOLD, kUsualTrimThreshold);
    (void)malloc_trim(0);
  }

 private:
  // Those of glibc (mallopt(3)).
  static constexpr int kUsualMappings = 65536;
  static constexpr int kUsualTrimThreshold = 128 * 1024;
};

}  // namespace dlkprof::cli
