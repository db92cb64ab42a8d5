#include "cupti/reusable_image.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace dlkprof::cupti::reusable_image_test {
namespace {

TEST(ReusableImage, IsWhatItWasOnceItIsEmptied) {
  std::vector<std::uint8_t> empty(100'003);
  for (std::size_t i = 0; i < empty.size(); ++i) empty[i] = static_cast<std::uint8_t>(i * 7);
  ReusableImage image(empty);
  const auto* const place = image.bytes().data();
  for (int time = 0; time < 3; ++time) {
    ASSERT_TRUE(std::ranges::equal(image.bytes(), empty));
    std::ranges::fill(image.bytes(), std::uint8_t{9});
    image.bytes().back() = 1;
    ASSERT_EQ(image.bytes()[50'000], 9);
    image.empty();
    EXPECT_EQ(image.bytes().data(), place);
  }
  EXPECT_TRUE(std::ranges::equal(image.bytes(), empty));
}

TEST(ReusableImage, TwoHaveNothingInCommon) {
  const std::vector<std::uint8_t> empty(10'000, 7);
  ReusableImage one(empty);
  const ReusableImage other(empty);
  one.bytes()[1] = 9;
  EXPECT_EQ(other.bytes()[1], 7);
}

// The signal for it would end the program.
TEST(ReusableImage, IsRefusedWhereTheProgramMayNotHaveSuchAFile) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{5'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(ReusableImage(std::vector<std::uint8_t>(10'000)), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

}  // namespace
}  // namespace dlkprof::cupti::reusable_image_test
