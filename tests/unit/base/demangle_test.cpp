// demangle, and what function_base_name makes of its spelling.
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "base/text.h"

namespace dlkprof::demangle_test {
namespace {

struct DemangleCase {
  std::string mangled;
  std::string demangled;
  std::string base;
};

class Demangle : public testing::TestWithParam<DemangleCase> {};

TEST_P(Demangle, GivesTheNameAndItsBase) {
  EXPECT_EQ(demangle(GetParam().mangled), GetParam().demangled);
  EXPECT_EQ(function_base_name(demangle(GetParam().mangled)), GetParam().base);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Demangle,
    testing::Values(
        DemangleCase{"_Z6kernelPfS_i", "kernel(float*, float*, int)", "kernel"},
        DemangleCase{"_ZN7cutlass7Kernel2I51cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4EEvNT_6ParamsE",
                     "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>("
                     "cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4::Params)",
                     "Kernel2"},
        DemangleCase{
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
            "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
            "vectorized_elementwise_kernel"},
        DemangleCase{
            "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardIfffLi4ELb1ELb0EEEvPT0_PKT_iiiPKbib",
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 4, true, false>(float*, float const*, int, "
            "int, "
            "int, bool const*, int, bool)",
            "softmax_warp_forward"},
        DemangleCase{
            "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_11FillFunctorIfEEEEvRNS_"
            "18TensorIteratorBaseERKT_EUliE_EEviT1_",
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::FillFunctor<float> >("
            "at::TensorIteratorBase&, at::native::FillFunctor<float> const&)::{lambda(int)#1}>(int, "
            "at::native::gpu_kernel_impl_nocast<at::native::FillFunctor<float> >(at::TensorIteratorBase&, "
            "at::native::FillFunctor<float> const&)::{lambda(int)#1})",
            "elementwise_kernel"},
        DemangleCase{"_ZN1nltI1AEEbT_S2_", "bool n::operator< <A>(A, A)", "operator<"},
        DemangleCase{"_ZNK1AclEi", "A::operator()(int) const", "operator()"}));

TEST(DemangleOther, NamesThatAreNotMangledStay) {
  // "d", "i" and "Ss" are types to the runtime.
  for (const char* name : {"", "d", "i", "Ss", "_", "_Z", "main", "nvjet_tst_128x64_64x8_2x1_v_bz_NNT", "triton_poi_fused_add_0",
                           "_Z1", "_ZN1A", "_Z99f", "_Z1fS9_", "_Z1fv "}) {
    EXPECT_EQ(demangle(name), name);
  }
  const std::string with_zero("_Z1fv\0x", 7);
  EXPECT_EQ(demangle(with_zero), with_zero);
}

// CUTLASS kernels have such names.
TEST(DemangleOther, NamesLongerThanTheRuntimeTakesAreUnderstood) {
  EXPECT_EQ(demangle("_Z2000" + std::string(2000, 'a') + "v"), std::string(2000, 'a') + "()");
}

TEST(DemangleOther, VeryLongNamesStay) {
  for (const std::string& name :
       {"_Z5000" + std::string(5000, 'a') + "v", "_Z1fI" + std::string(1U << 20U, 'J'), "_Z" + std::string(1U << 20U, 'Z')}) {
    EXPECT_EQ(demangle(name), name);
  }
}

// Each parameter is B of the one before, twice over: the text doubles with each, and whole would take all memory.
TEST(DemangleOther, NamesWhoseTextExplodesStay) {
  // Substitutions: S_ is A, S0_ is A<int>, S1_ is B, S2_ is the first B<...>, S3_ the second, and so on.
  std::string name = "_Z1f1AIiE1BIS0_S0_E";
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 2; i + 1 < kDigits.size(); ++i) {
    const std::string previous = std::string("S") + kDigits[i] + "_";
    name += "S1_I" + previous + previous + "E";
  }
  EXPECT_EQ(demangle(name), name);
  EXPECT_EQ(demangle(name.substr(0, 30)), "f(A<int>, B<A<int>, A<int> >, B<B<A<int>, A<int> >, B<A<int>, A<int> > >)") << name;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// demangle() on a thread with so small a stack.
std::string demangled_on(std::size_t stack_bytes, const std::string& mangled) {
  struct Work {
    const std::string& mangled;
    std::string result;
  } work{mangled, {}};
  const auto body = [](void* opaque) -> void* {
    auto& mine = *static_cast<Work*>(opaque);
    mine.result = demangle(mine.mangled);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::max(stack_bytes, static_cast<std::size_t>(PTHREAD_STACK_MIN)));
  pthread_t thread{};
  EXPECT_EQ(pthread_create(&thread, &attributes, body, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return work.result;
}

// Of threads as programs have them: Rust's have 2 MB, and some a great deal less.
TEST(DemangleStack, NamesAsDeepAsTheyAreLong) {
  const std::string pointers = "_Z1f" + std::string(900, 'P') + "i";
  const std::string nested =
      "_ZN7cutlass4gemm6kernel" + repeated("1AIN7cutlass4gemm6kernel", 60) + "1B" + repeated("EE", 60) + "Evv";
  for (const std::size_t bytes : {std::size_t{1} << 15U, std::size_t{1} << 16U, std::size_t{1} << 19U, std::size_t{1} << 21U}) {
    EXPECT_EQ(demangled_on(bytes, pointers), "f(int" + std::string(900, '*') + ")");
    EXPECT_EQ(demangled_on(bytes, nested).substr(0, 45), "void cutlass::gemm::kernel::A<cutlass::gemm::");
    (void)demangled_on(bytes, "_Z1f" + std::string(4090, 'P') + "i");
  }
}

// libiberty allocates an array of templates times references: of these names some 17 MB, and more.
TEST(DemangleStack, NamesOfManyTemplatesAndReferencesStay) {
  const std::string many = "_Z1fI" + repeated("1aIiE", 400) + "EvRT_" + repeated("RT_", 660);
  EXPECT_LE(many.size(), 4096U);
  EXPECT_EQ(demangled_on(std::size_t{1} << 16U, many), many);
  EXPECT_EQ(demangle(many), many);
}

// A quarter of the stack, which is as much as a name may take.
TEST(DemangleStack, NamesOfFewerAreUnderstood) {
  const std::string most = "_Z1fI" + repeated("1aIiE", 200) + "EvRT_" + repeated("RT0_", 700);
  EXPECT_EQ(demangled_on(std::size_t{1} << 15U, most).substr(0, 15), "void f<a<int>, ");
}

}  // namespace
}  // namespace dlkprof::demangle_test
