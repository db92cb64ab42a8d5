// Names of kernels for tables that people read: of a template what tells it from others, in few words.
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(...)
//   vectorized_elementwise_kernel 4 CUDAFunctor_add bf16
//
//   void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(...)
//   cutlass_80_simt_sgemm_128x64_8x5_tn_align1
//
//   sm80_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize32x32x64_stage3_warpsize2x2x1_tensor16x8x8_..._execute_kernel__5x_cublas
//   sm80_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize32x32x64_stage3
//
// Kept are functors and functions, data types in short (bf16, f32, e4m3), tiles (128x64x32), layouts (row, col, nhwc), and the
// numbers of the template itself. Namespaces, parameters, and what is the same in every kernel of its kind are left out. The
// first word is a part of the name, which -k finds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlkprof::report {

// `whole`: demangled. What else is no template keeps its name. Never empty unless `whole` is; takes time linear in it.
[[nodiscard]] std::string telling_name(std::string_view whole);

// Of several kernels, a name or null each; different kernels that would have the same name are numbered: "name #1", "name #2".
[[nodiscard]] std::vector<std::string> telling_names(std::span<const std::string* const> wholes);

}  // namespace dlkprof::report
