#include "cupti/cache_flush.h"

#include <array>

namespace dlkprof::cupti {
namespace {

// void flush(const uint64_t* words, uint64_t count): every thread adds up its share of the buffer; a sum that the
// buffer of zeros cannot give keeps the compiler from dropping the loads.
constexpr const char* kFlushPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry dlkprof_flush_cache(.param .u64 words, .param .u64 count)
{
  .reg .pred %more, %never;
  .reg .b32 %r<6>;
  .reg .b64 %base, %limit, %index, %step, %place, %word, %sum, %block;
  ld.param.u64 %base, [words];
  ld.param.u64 %limit, [count];
  cvta.to.global.u64 %base, %base;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  cvt.u64.u32 %index, %r5;
  mul.wide.u32 %step, %r2, %r4;
  mov.u64 %sum, 0;
next:
  setp.ge.u64 %more, %index, %limit;
  @%more bra done;
  shl.b64 %place, %index, 3;
  add.u64 %place, %base, %place;
  ld.global.cg.u64 %word, [%place];
  add.u64 %sum, %sum, %word;
  add.u64 %index, %index, %step;
  bra next;
done:
  setp.eq.u64 %never, %sum, 0x5bd1e995;
  @%never st.global.u64 [%base], %sum;
  ret;
}
)";
constexpr unsigned kBlocks = 512, kThreads = 256;

}  // namespace

CacheFlush::~CacheFlush() {
  if (buffer_ != 0) (void)driver_.cuMemFree(buffer_);
  if (module_ != nullptr) (void)driver_.cuModuleUnload(module_);
}

void CacheFlush::prepare() {
  if (buffer_ != 0) return;
  check(driver_, driver_.cuModuleLoadData(&module_, kFlushPtx), "cuModuleLoadData");
  check(driver_, driver_.cuModuleGetFunction(&kernel_, module_, "dlkprof_flush_cache"), "cuModuleGetFunction");
  check(driver_, driver_.cuMemAlloc(&buffer_, 2 * l2_bytes_), "cuMemAlloc");
  check(driver_, driver_.cuMemsetD8(buffer_, 0, 2 * l2_bytes_), "cuMemsetD8");
}

void CacheFlush::run() {
  std::uint64_t words = 2 * l2_bytes_ / sizeof(std::uint64_t);
  std::array<void*, 2> arguments{&buffer_, &words};
  check(driver_, driver_.cuLaunchKernel(kernel_, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments.data(), nullptr),
        "cuLaunchKernel");
  check(driver_, driver_.cuCtxSynchronize(), "cuCtxSynchronize");
}

}  // namespace dlkprof::cupti
