#include "inject/event_clock.h"

#include <dlfcn.h>

#include <initializer_list>

namespace dlkprof::inject {

constinit ClockFunction g_clock = &clock_gettime;

namespace {

// The kernel's is part of every process, unless it was left out, as under an emulator.
ClockFunction kernels_clock() noexcept {
  void* const kernels = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (kernels == nullptr) return &clock_gettime;
  for (const char* name : {"__vdso_clock_gettime", "__kernel_clock_gettime"}) {
    if (void* const found = dlsym(kernels, name)) return reinterpret_cast<ClockFunction>(found);
  }
  return &clock_gettime;
}

[[maybe_unused]] const bool kClockFound = [] {
  g_clock = kernels_clock();
  return true;
}();

}  // namespace
}  // namespace dlkprof::inject
