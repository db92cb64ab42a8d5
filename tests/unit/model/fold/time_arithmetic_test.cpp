#include "model/fold/time_arithmetic.h"

#include <gtest/gtest.h>

#include <limits>

namespace dlkprof::model::time_arithmetic_test {
namespace {

TEST(TimeArithmetic, TakesWhatFitsOfComputedTimes) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(12, whole_ns(12.9));
  EXPECT_EQ(-12, whole_ns(-12.9));
  EXPECT_EQ(kMostNs, whole_ns(static_cast<double>(kMostNs)));  // rounded up, it does not fit
  EXPECT_EQ(kMostNs, whole_ns(8.67873e+23));
  EXPECT_EQ(kMostNs, whole_ns(kInfinite));
  EXPECT_EQ(-kMostNs, whole_ns(-kInfinite));
  EXPECT_EQ(0, whole_ns(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace dlkprof::model::time_arithmetic_test
