// Lets the tests run NVPerf under the sanitizers.
#ifdef DLKPROF_SANITIZED
#include <dlfcn.h>

// CUPTI loads NVPerf with RTLD_DEEPBIND, at which AddressSanitizer and ThreadSanitizer end the program. This dlopen stands
// before theirs and leaves the flag out.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int flags) noexcept {
  static auto* const next = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, flags & ~RTLD_DEEPBIND);
}

// What LeakSanitizer would find here is what CUPTI keeps of a chip that it refuses; that of g++ 12 even crashes where NVPerf
// has had the counters of some chips (GB100) loaded.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return 1; }
#endif
