#include "inject/replay/packed_range.h"

#include <gtest/gtest.h>

#include <vector>

namespace dlkprof::inject::packed_range_test {
namespace {

using Image = std::vector<std::uint8_t>;

Image unpacked(const PackedRange& packed, Image empty) {
  packed.put_into(empty);
  return empty;
}

TEST(PackedRange, GivesBackWhatDiffers) {
  const Image empty(1'000'003, 7);  // no whole number of blocks
  for (const std::size_t at : {0U, 63U, 64U, 500'000U, 1'000'002U}) {
    Image image = empty;
    image[at] = 9;
    EXPECT_EQ(unpacked(PackedRange(image, empty), empty), image) << at;
  }
  const Image other(empty.size(), 8);
  EXPECT_EQ(unpacked(PackedRange(other, empty), empty), other);
}

TEST(PackedRange, TakesLittleWhereLittleDiffers) {
  const Image empty(1'000'000, 7);
  Image image = empty;
  for (std::size_t at = 0; at < 100; ++at) image[at * 9'000] = 1;
  EXPECT_LT(PackedRange(image, empty).bytes(), 1'000U);
}

TEST(PackedRange, NothingDiffers) {
  const Image empty(100, 7);
  EXPECT_EQ(unpacked(PackedRange(empty, empty), empty), empty);
}

}  // namespace
}  // namespace dlkprof::inject::packed_range_test
