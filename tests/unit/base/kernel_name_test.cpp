// function_base_name on names as demanglers give them.
#include <gtest/gtest.h>

#include "base/text.h"

namespace dlkprof::kernel_name_test {
namespace {

struct NameCase {
  std::string_view demangled;
  std::string_view base;
};

class FunctionBaseName : public testing::TestWithParam<NameCase> {};

TEST_P(FunctionBaseName, IsFound) { EXPECT_EQ(function_base_name(GetParam().demangled), GetParam().base); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, FunctionBaseName,
    testing::Values(
        NameCase{
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int, "
            "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
            "vectorized_elementwise_kernel"},
        NameCase{
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
            "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
            "vectorized_elementwise_kernel"},
        NameCase{
            "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>(cutlass_80_tensorop_s1688gemm_128x64_"
            "16x6_nn_align4::Params)",
            "Kernel2"},
        NameCase{
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
            "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda(float)#1}>("
            "at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
            "const::{lambda()#12}::operator()() const::{lambda(float)#1} const&)::{lambda(int)#1}>(int, "
            "at::native::gpu_kernel_impl_nocast<float>(at::TensorIteratorBase&)::{lambda(int)#1})",
            "elementwise_kernel"},
        NameCase{"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*, long)",
                 "max_pool_forward_nchw"},
        NameCase{"(anonymous namespace)::softmax(float*)", "softmax"}, NameCase{"scal_kernel(float*)", "scal_kernel"},
        NameCase{"nvjet_tst_128x64_64x8_2x1_v_bz_NNT", "nvjet_tst_128x64_64x8_2x1_v_bz_NNT"},
        NameCase{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3",
                 "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3"},
        NameCase{"triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_0"},
        NameCase{"gemm_fusion_dot.1", "gemm_fusion_dot.1"}));

INSTANTIATE_TEST_SUITE_P(
    Operators, FunctionBaseName,
    testing::Values(NameCase{"void functor::operator()<int, &ns::operator< <int> >(int) const", "operator()"},
                    NameCase{"bool ns::operator< <int>(ns::A<int> const&)", "operator<"},
                    NameCase{"bool ns::operator<(ns::A<int> const&)", "operator<"},
                    NameCase{"int ns::operator<< <int>(int)", "operator<<"},
                    NameCase{"auto ns::operator<=><int>(int)", "operator<=>"}, NameCase{"A* A::operator->() const", "operator->"},
                    NameCase{"int& A::operator[](unsigned long)", "operator[]"},
                    NameCase{"A A::operator+<int>(int)", "operator+"},
                    NameCase{"A<int>::operator float*() const", "operator float*"},
                    NameCase{"A::operator std::vector<(B)0, C>() const", "operator std::vector<(B)0, C>"},
                    NameCase{"A::operator new[](unsigned long)", "operator new[]"}, NameCase{"void k<&A::operator-> >(A)", "k"},
                    NameCase{"void k<&A::operator>, 1>(A)", "k"}, NameCase{"operator_kernel<int>(int)", "operator_kernel"},
                    NameCase{"ns::my_operator<int>(int)", "my_operator"}));

INSTANTIATE_TEST_SUITE_P(Grammar, FunctionBaseName,
                         testing::Values(NameCase{"decltype ((declval<int>())+(1)) ns::f<(1)<(2), int>(int)", "f"},
                                         NameCase{"decltype(auto) ns::f<int>(int)", "f"},
                                         NameCase{"std::enable_if<((4)>(2)), void>::type ns::f<int>(int)", "f"},
                                         NameCase{"void k<(decltype (a->b))0, 3>(int)", "k"},
                                         NameCase{"void k<(Mode)1, &fn(int)>(int)", "k"},
                                         NameCase{"unsigned long long const* ns::k(int) const [clone .isra.0]", "k"},
                                         NameCase{"void host(int)::{lambda(int)#1}::operator()(int) const", "operator()"},
                                         NameCase{"void host(int) const::local::k<int>(int)", "k"},
                                         NameCase{"void (*ns::f<int>(int))(float)", "f"}, NameCase{"k[abi:cxx11](int)", "k"},
                                         NameCase{"ns::K<int>::K(int)", "K"}, NameCase{"ns::K<int>::~K()", "~K"},
                                         NameCase{"void k<'lambda'(int)>(int)", "k"}));

INSTANTIATE_TEST_SUITE_P(Nonsense, FunctionBaseName,
                         testing::Values(NameCase{"", ""}, NameCase{" ", " "}, NameCase{"::", "::"}, NameCase{"<", "<"},
                                         NameCase{"(", "("}, NameCase{")", ")"}, NameCase{"a<b(", "a"}, NameCase{"a(b<", "a"},
                                         NameCase{"operator", "operator"}, NameCase{">>", ">>"}));

TEST(FunctionBaseNameLimits, LongNestingTakesLinearTime) {
  constexpr std::size_t kLength = 1U << 20U;
  for (const char c : {'<', '(', '{', '[', '>', ')', ':', ' '}) {
    EXPECT_FALSE(function_base_name("k" + std::string(kLength, c)).empty());
    EXPECT_FALSE(function_base_name("k" + std::string(kLength / 2, c) + std::string(kLength / 2, ']')).empty());
  }
}

}  // namespace
}  // namespace dlkprof::kernel_name_test
