// Lets the tests run NVPerf under the sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <dlfcn.h>

// CUPTI loads NVPerf with RTLD_DEEPBIND, at which AddressSanitizer and ThreadSanitizer end the program. This dlopen stands
// before theirs and leaves the flag out.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int flags) noexcept {
  static auto* const next = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, flags & ~RTLD_DEEPBIND);
}

// LeakSanitizer of g++ 12 crashes itself where NVPerf has had the counters of some chips (GB100) loaded; and what it would
// find here is what CUPTI keeps of a chip that it refuses.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return 1; }
#endif
