// What programs that mark their ops with NVTX share: kernels to launch, and ranges.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace target {

inline constexpr const char* kAdd = "_Z12add_in_placePfPKfi";
inline constexpr const char* kRotate = "_Z6rotatePfPKfi";
inline constexpr const char* kCutlass = "_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE";
inline constexpr const char* kNvjet = "nvjet_tst_128x64_64x8_2x1_v_bz_TNT";
inline constexpr const char* kSgemm = "volta_sgemm_128x64_nn";

class Range {
 public:
  explicit Range(const std::string& message) { nvtxRangePushA(message.c_str()); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() { nvtxRangePop(); }
};

}  // namespace target
