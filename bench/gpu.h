// A GPU with a kernel to launch, without the CUDA runtime.
#pragma once

#include <dlfcn.h>

#include "cupti/driver.h"

namespace dlkprof::bench {

inline constexpr unsigned kBlocks = 1056, kThreads = 256;  // 8 blocks for each multiprocessor of an H200

// Adds 1 to each of its floats.
inline constexpr const char* kKernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 floats) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [floats];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 256, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

// The primary context of the first GPU, and a kernel to launch in it.
class Gpu {
 public:
  Gpu() : driver_(cupti::Driver::open()) {
    initialize();
    CUcontext made = nullptr;
    cupti::check(driver_, call<CUresult(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain")(&made, 0), "cuDevicePrimaryCtxRetain");
    context = made;
    cupti::check(driver_, call<CUresult(CUcontext)>("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    CUmodule module = nullptr;
    cupti::check(driver_, driver_.cuModuleLoadData(&module, kKernel), "cuModuleLoadData");
    cupti::check(driver_, driver_.cuModuleGetFunction(&kernel_, module, "add_one"), "cuModuleGetFunction");
    cupti::check(driver_, driver_.cuMemAlloc(&floats_, sizeof(float) * kBlocks * kThreads), "cuMemAlloc");
  }

  // What must come before CUPTI is called, and may come again.
  static void initialize() {
    const auto& driver = cupti::Driver::open();
    cupti::check(driver, call<CUresult(unsigned)>("cuInit")(0), "cuInit");
  }

  void launch() const {
    CUdeviceptr floats = floats_;
    void* arguments[] = {&floats};
    cupti::check(driver_, driver_.cuLaunchKernel(kernel_, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr),
                 "cuLaunchKernel");
  }
  void wait() const { cupti::check(driver_, driver_.cuCtxSynchronize(), "cuCtxSynchronize"); }

  CUcontext context = nullptr;

 private:
  template <typename Function>
  static Function* call(const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
  }

  const cupti::Driver& driver_;
  CUfunction kernel_ = nullptr;
  CUdeviceptr floats_ = 0;
};

}  // namespace dlkprof::bench
