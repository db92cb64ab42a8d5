#include "inject/replay/packed_range.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace dlkprof::inject::packed_range_test {
namespace {

using Image = std::vector<std::uint8_t>;

PackedRange packed(const Image& image, const Image& empty, std::shared_ptr<const PackedRange::Blocks> like = nullptr) {
  return {PackedRange::blocks_of(image, empty), std::move(like)};
}

Image unpacked(const PackedRange& range, Image empty) {
  range.put_into(empty);
  return empty;
}

TEST(PackedRange, GivesBackWhatDiffers) {
  const Image empty(1'000'003, 7);  // no whole number of blocks
  for (const std::size_t at : {0U, 63U, 64U, 500'000U, 1'000'002U}) {
    Image image = empty;
    image[at] = 9;
    EXPECT_EQ(unpacked(packed(image, empty), empty), image) << at;
  }
  const Image other(empty.size(), 8);
  EXPECT_EQ(unpacked(packed(other, empty), empty), other);
}

TEST(PackedRange, TakesLittleWhereLittleDiffers) {
  const Image empty(1'000'000, 7);
  Image image = empty;
  for (std::size_t at = 0; at < 100; ++at) image[at * 9'000] = 1;
  EXPECT_LT(packed(image, empty).bytes(), 1'000U);
}

// As names of counters are, which are the same in each range of a pass.
TEST(PackedRange, TakesLittleWhereItIsLikeAnother) {
  const Image empty(100'000, 7);
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time; what is random does not shrink
  Image other = empty;
  for (auto& byte : other) byte = static_cast<std::uint8_t>(random());
  Image image = other;
  for (std::size_t at = 0; at < image.size(); at += 1'000) ++image[at];
  const auto like = std::make_shared<const PackedRange::Blocks>(PackedRange::blocks_of(other, empty));
  const PackedRange range = packed(image, empty, like);
  EXPECT_EQ(unpacked(range, empty), image);
  EXPECT_LT(range.bytes(), 2'000U);
  EXPECT_GT(packed(image, empty).bytes(), 100'000U);
}

TEST(PackedRange, AnotherOfAnotherSizeIsNoHelp) {
  const Image empty(1'000, 7);
  Image image = empty;
  image[500] = 9;
  const auto like = std::make_shared<const PackedRange::Blocks>(10, std::uint8_t{1});
  EXPECT_EQ(unpacked(packed(image, empty, like), empty), image);
}

TEST(PackedRange, NothingDiffers) {
  const Image empty(100, 7);
  EXPECT_EQ(unpacked(packed(empty, empty), empty), empty);
}

}  // namespace
}  // namespace dlkprof::inject::packed_range_test
