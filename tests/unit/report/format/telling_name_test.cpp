#include "report/format/telling_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dlkprof::report::telling_name_test {
namespace {

struct NameCase {
  const char* whole;
  const char* telling;
};

class TellingNameTest : public testing::TestWithParam<NameCase> {};

TEST_P(TellingNameTest, KeepsWhatTellsAKernelFromOthers) { EXPECT_EQ(telling_name(GetParam().whole), GetParam().telling); }

// As demangled names of PyTorch 2.11's, cuDNN's and cuBLAS's kernels are in captures, but for those of types that these lack.
INSTANTIATE_TEST_SUITE_P(
    Names, TellingNameTest,
    testing::Values(
        NameCase{
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int, "
            "at::native::FillFunctor<float>, std::array<char*, 1ul>)",
            "vectorized_elementwise_kernel 4 FillFunctor f32"},
        NameCase{
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
            "3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
            "vectorized_elementwise_kernel 4 CUDAFunctor_add bf16"},
        NameCase{
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> "
            ">(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int, int)",
            "elementwise_kernel 128 2 CUDAFunctor_add f32"},
        NameCase{"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
                 "namespace)::masked_scale_kernel<bool, float, float>(at::Tensor&, at::Tensor const&, at::Tensor const&, "
                 "float)::{lambda(float, bool)#1}, std::array<char*, 3ul> >(int, at::native::x)",
                 "vectorized_elementwise_kernel 4 masked_scale_kernel bool f32"},
        NameCase{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                 "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::UnaryOpFunctor<float, 2, 1, 1>, "
                 "at::native::Sqrt<float> >(at::native::x)",
                 "multi_tensor_apply_kernel UnaryOpFunctor f32 Sqrt"},
        NameCase{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                 "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, "
                 "std::multiplies<float>, float>(at::native::x)",
                 "multi_tensor_apply_kernel BinaryOpScalarFunctor f32 multiplies"},
        NameCase{
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_nn_align8>(cutlass_80_x::Params)",
            "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_nn_align8"},
        NameCase{
            "void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::MmaMultistage<cutlass::gemm::GemmShape"
            "<128, 256, 32>, cutlass::half_t, cutlass::layout::RowMajor, cutlass::gemm::GemmShape<64, 64, 32>, "
            "cutlass::layout::ColumnMajor> > >(int)",
            "Gemm 128x256x32 f16 row col"},
        NameCase{"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<cute::C<128>, cute::C<64>, "
                 "cute::C<32> >, cutlass::bfloat16_t> >(int)",
                 "GemmUniversal 128x64x32 bf16"},
        NameCase{"void sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>(float*, float const*)", "sgemm_largek_lds64 5 4 34"},
        NameCase{"sm80_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize32x32x64_stage3_warpsize2x2x1_tensor16x8x8_aligna4_alignc4_"
                 "execute_kernel__5x_cublas",
                 "sm80_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize32x32x64_stage3"},
        NameCase{"sm90_xmma_dgrad_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize256x32x32_warpgroupsize1x1x1_g1_execute_"
                 "segment_k_off_kernel__5x_cudnn",
                 "sm90_xmma_dgrad_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize256x32x32"},
        NameCase{"nvjet_tst_256x128_64x4_1x2_h_bz_coopB_NNT", "nvjet_tst_256x128_64x4_1x2_h_bz_coopB_NNT"},
        NameCase{"triton_poi_fused_add_0", "triton_poi_fused_add_0"}, NameCase{"relu(float*, int)", "relu"},
        NameCase{"[CUDA memcpy HtoD]", "[CUDA memcpy HtoD]"}, NameCase{"", ""}));

TEST(TellingNameTest, HoldsWhateverTheNameIs) {
  for (const std::string& whole :
       {std::string(1'000'000, '<'), "k<" + std::string(1'000'000, '('), std::string("k<{lambda"), std::string("k<GemmShape<1"),
        std::string("k<>"), std::string("k<\xff\x1b>"), std::string("<"), std::string("k<->"), std::string("Kernel2<>()")}) {
    EXPECT_FALSE(telling_name(whole).empty()) << whole.substr(0, 20);
  }
}

TEST(TellingNames, NumberDifferentKernelsThatWouldReadTheSame) {
  const std::string first = "void a::fill<float>(int)", second = "void b::fill<float>(int)", third = "gemm";
  const std::vector<const std::string*> wholes{&first, &second, nullptr, &first, &third};
  EXPECT_THAT(telling_names(wholes), testing::ElementsAre("fill f32 #1", "fill f32 #2", "", "fill f32 #1", "gemm"));
}

}  // namespace
}  // namespace dlkprof::report::telling_name_test
