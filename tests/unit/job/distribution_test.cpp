#include "job/distribution.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

namespace dlkprof::job::distribution_test {
namespace {

TEST(Distribution, IsTheSameHoweverItIsMerged) {
  std::mt19937_64 random(1);
  std::vector<Distribution> parts(16);
  Distribution whole;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);  // squares of the largest reach the greatest sum there is
    parts[random() % parts.size()].add(value);
    whole.add(value);
  }
  for (int tree = 0; tree < 100; ++tree) {
    std::vector<Distribution> left = parts;
    while (left.size() > 1) {
      const std::size_t one = random() % (left.size() - 1);
      left[one].merge(left.back());
      left.pop_back();
    }
    ASSERT_EQ(left.front(), whole);
  }
}

TEST(Distribution, HasTheDeviationOfTheSample) {
  Distribution values;
  for (const std::uint64_t value : {2, 4, 4, 4, 5, 5, 7, 9}) values.add(value);
  EXPECT_DOUBLE_EQ(values.mean(), 5);
  EXPECT_NEAR(values.deviation(), 2.13809, 1e-5);
}

TEST(Distribution, ReadsItsTextsBack) {
  Distribution values, read;
  for (const std::uint64_t value : {0, 1, 3, 1'000'000}) values.add(value);
  read_histogram(histogram_text(values), read);
  EXPECT_EQ(read.histogram, values.histogram);
  EXPECT_EQ(wide_text(~Wide{0}), "340282366920938463463374607431768211455");
  EXPECT_TRUE(wide_of(wide_text(~Wide{0})) == ~Wide{0});
  for (const char* wrong : {"", "-1", "x", "340282366920938463463374607431768211456", "1e3"})
    EXPECT_THROW((void)wide_of(wrong), std::invalid_argument) << wrong;
  for (const char* wrong : {"1", "65:1", "1:x", ":", "1:1  2:1"})
    EXPECT_THROW(read_histogram(wrong, read), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace dlkprof::job::distribution_test
