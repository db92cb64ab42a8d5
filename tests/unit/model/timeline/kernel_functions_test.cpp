#include "model/timeline/kernel_functions.h"

#include <gtest/gtest.h>

namespace dlkprof::model::kernel_functions_test {
namespace {

using capture::KeyStats;
using capture::SkipReason;

constexpr std::uint32_t kKernel = 3, kFirst = 10, kSecond = 11, kThird = 12;

capture::LaunchKey key_of(std::uint32_t function, std::uint32_t grid = 32) {
  return {.function = function, .grid = {grid, 1, 1}, .block = {128, 1, 1}};
}
KeyStats launched(std::uint32_t function, std::uint64_t measured = 0, SkipReason reason = SkipReason::none) {
  return {.key = key_of(function), .launches = 16, .measured = measured, .reason = reason};
}
KernelFunctions loaded(std::initializer_list<std::uint32_t> functions) {
  KernelFunctions known;
  for (const std::uint32_t function : functions) known.loaded(kKernel, function);
  return known;
}

TEST(KernelFunctions, OneThatIsAloneIsIt) {
  EXPECT_EQ(loaded({kFirst}).find(kKernel, key_of(0)), kFirst) << "wherever it was launched";
  EXPECT_EQ(loaded({kFirst}).find(kKernel + 1, key_of(0)), 0U);
}

TEST(KernelFunctions, OfSeveralTheOneThatWasLaunchedLikeIt) {
  KernelFunctions known = loaded({kFirst, kSecond});
  EXPECT_EQ(known.find(kKernel, key_of(0)), 0U);
  known.launched(kKernel, launched(kSecond));
  EXPECT_EQ(known.find(kKernel, key_of(0)), kSecond);
  EXPECT_EQ(known.find(kKernel, key_of(0, 64)), 0U) << "of another grid";
}

// XLA tries a kernel, loads it once more, and has it in a graph that is launched node by node.
TEST(KernelFunctions, OfSeveralLaunchedAlikeTheOneThatWasMeasured) {
  KernelFunctions known = loaded({kFirst, kSecond, kThird});
  known.launched(kKernel, launched(kFirst));
  known.launched(kKernel, launched(kSecond));
  EXPECT_EQ(known.find(kKernel, key_of(0)), 0U);
  known.launched(kKernel, launched(kThird, 2));
  EXPECT_EQ(known.find(kKernel, key_of(0)), kThird);
  known.launched(kKernel, launched(kFirst, 1));
  EXPECT_EQ(known.find(kKernel, key_of(0)), 0U) << "either may be it";
}

TEST(KernelFunctions, OneThatWasCapturedIsSurer) {
  KernelFunctions known = loaded({kFirst, kSecond, kThird});
  known.launched(kKernel, launched(kFirst, 2, SkipReason::captured));
  known.launched(kKernel, launched(kSecond, 2));
  EXPECT_EQ(known.find(kKernel, key_of(0)), kFirst);
  known.launched(kKernel, launched(kThird, 0, SkipReason::captured));
  EXPECT_EQ(known.find(kKernel, key_of(0)), 0U);
}

}  // namespace
}  // namespace dlkprof::model::kernel_functions_test
