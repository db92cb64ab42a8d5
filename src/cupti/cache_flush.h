// Empties the GPU's L2 of a program's data, so that every pass of a replay starts with cold caches. (L1 starts empty in
// every kernel.) Reads a buffer of twice L2's size through it with a small kernel of our own: reading, unlike writing,
// leaves no dirty lines whose write-back would count as DRAM traffic of the kernel measured.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cupti/driver.h"

namespace dlkprof::cupti {

class CacheFlush {
 public:
  CacheFlush(const Driver& driver, std::uint64_t l2_bytes) : driver_(driver), l2_bytes_(l2_bytes) {}
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;
  ~CacheFlush();  // the context that run() was called in must still be there, or be gone with all its memory

  // Both with the context current; throw Error (out of memory, no machine code for the GPU).
  // prepare() takes the memory, the first time only; run() empties the cache, and waits until that is done.
  void prepare();
  void run();

 private:
  const Driver& driver_;
  std::uint64_t l2_bytes_;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
  CUdeviceptr buffer_ = 0;
};

}  // namespace dlkprof::cupti
