// function_base_name on names as demanglers give them.
#include <gtest/gtest.h>

#include "base/text.h"

namespace dlkprof {
namespace {

struct Case {
  std::string_view demangled;
  std::string_view base;
};

class FunctionBaseName : public testing::TestWithParam<Case> {};

TEST_P(FunctionBaseName, IsFound) { EXPECT_EQ(function_base_name(GetParam().demangled), GetParam().base); }

INSTANTIATE_TEST_SUITE_P(
    Kernels, FunctionBaseName,
    testing::Values(
        Case{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int, "
             "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
             "vectorized_elementwise_kernel"},
        Case{
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
            "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
            "vectorized_elementwise_kernel"},
        Case{"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>(cutlass_80_tensorop_s1688gemm_128x64_"
             "16x6_nn_align4::Params)",
             "Kernel2"},
        Case{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
             "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda(float)#1}>("
             "at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
             "const::{lambda()#12}::operator()() const::{lambda(float)#1} const&)::{lambda(int)#1}>(int, "
             "at::native::gpu_kernel_impl_nocast<float>(at::TensorIteratorBase&)::{lambda(int)#1})",
             "elementwise_kernel"},
        Case{"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*, long)",
             "max_pool_forward_nchw"},
        Case{"(anonymous namespace)::softmax(float*)", "softmax"}, Case{"scal_kernel(float*)", "scal_kernel"},
        Case{"nvjet_tst_128x64_64x8_2x1_v_bz_NNT", "nvjet_tst_128x64_64x8_2x1_v_bz_NNT"},
        Case{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3",
             "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3"},
        Case{"triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_0"}, Case{"gemm_fusion_dot.1", "gemm_fusion_dot.1"}));

INSTANTIATE_TEST_SUITE_P(
    Operators, FunctionBaseName,
    testing::Values(Case{"void functor::operator()<int, &ns::operator< <int> >(int) const", "operator()"},
                    Case{"bool ns::operator< <int>(ns::A<int> const&)", "operator<"},
                    Case{"bool ns::operator<(ns::A<int> const&)", "operator<"},
                    Case{"int ns::operator<< <int>(int)", "operator<<"}, Case{"auto ns::operator<=><int>(int)", "operator<=>"},
                    Case{"A* A::operator->() const", "operator->"}, Case{"int& A::operator[](unsigned long)", "operator[]"},
                    Case{"A A::operator+<int>(int)", "operator+"}, Case{"A<int>::operator float*() const", "operator float*"},
                    Case{"A::operator std::vector<(B)0, C>() const", "operator std::vector<(B)0, C>"},
                    Case{"A::operator new[](unsigned long)", "operator new[]"}, Case{"void k<&A::operator-> >(A)", "k"},
                    Case{"void k<&A::operator>, 1>(A)", "k"}, Case{"operator_kernel<int>(int)", "operator_kernel"},
                    Case{"ns::my_operator<int>(int)", "my_operator"}));

INSTANTIATE_TEST_SUITE_P(Grammar, FunctionBaseName,
                         testing::Values(Case{"decltype ((declval<int>())+(1)) ns::f<(1)<(2), int>(int)", "f"},
                                         Case{"decltype(auto) ns::f<int>(int)", "f"},
                                         Case{"std::enable_if<((4)>(2)), void>::type ns::f<int>(int)", "f"},
                                         Case{"void k<(decltype (a->b))0, 3>(int)", "k"},
                                         Case{"void k<(Mode)1, &fn(int)>(int)", "k"},
                                         Case{"unsigned long long const* ns::k(int) const [clone .isra.0]", "k"},
                                         Case{"void host(int)::{lambda(int)#1}::operator()(int) const", "operator()"},
                                         Case{"void host(int) const::local::k<int>(int)", "k"},
                                         Case{"void (*ns::f<int>(int))(float)", "f"}, Case{"k[abi:cxx11](int)", "k"},
                                         Case{"ns::K<int>::K(int)", "K"}, Case{"ns::K<int>::~K()", "~K"},
                                         Case{"void k<'lambda'(int)>(int)", "k"}));

INSTANTIATE_TEST_SUITE_P(Nonsense, FunctionBaseName,
                         testing::Values(Case{"", ""}, Case{" ", " "}, Case{"::", "::"}, Case{"<", "<"}, Case{"(", "("},
                                         Case{")", ")"}, Case{"a<b(", "a"}, Case{"a(b<", "a"}, Case{"operator", "operator"},
                                         Case{">>", ">>"}));

TEST(FunctionBaseNameLimits, LongNestingTakesLinearTime) {
  constexpr std::size_t kLength = 1U << 20U;
  for (const char c : {'<', '(', '{', '[', '>', ')', ':', ' '}) {
    EXPECT_FALSE(function_base_name("k" + std::string(kLength, c)).empty());
    EXPECT_FALSE(function_base_name("k" + std::string(kLength / 2, c) + std::string(kLength / 2, ']')).empty());
  }
}

}  // namespace
}  // namespace dlkprof
