// Lets the tests run NVPerf under the sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <dlfcn.h>

// CUPTI loads NVPerf with RTLD_DEEPBIND, at which AddressSanitizer and ThreadSanitizer end the program. This dlopen stands
// before theirs and leaves the flag out.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int flags) noexcept {
  static auto* const next = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, flags & ~RTLD_DEEPBIND);
}

// Of a chip that it refuses (GV11B) CUPTI keeps a megabyte.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() { return "leak:libcupti.so\n"; }
#endif
