// pack_image and unpack_image.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <random>
#include <string>

#include "base/error.h"
#include "capture/encoding.h"

namespace dlkprof::capture::image_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

RawCountersRecord packed(const Bytes& image) { return {.image_bytes = image.size(), .zstd_image = pack_image(image)}; }

Bytes some_image() {
  std::mt19937 random(2);  // NOLINT: the same image each time
  Bytes image(100000);
  for (auto& byte : image) byte = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0);
  return image;
}

TEST(Image, RoundTrips) {
  for (const Bytes& image : {Bytes{}, Bytes{1}, Bytes(1U << 20U, 7), some_image()}) EXPECT_EQ(unpack_image(packed(image)), image);
}

TEST(Image, GetsSmaller) {
  const Bytes image = some_image();
  EXPECT_LT(pack_image(image).size(), image.size() / 2);
}

TEST(Image, BuildsOnAnother) {
  const Bytes base = some_image();
  Bytes image = base;
  for (std::size_t i = 0; i < image.size(); i += 997) image[i] ^= 0x5a;
  RawCountersRecord record{.image_bytes = image.size(), .zstd_image = pack_image(image, base), .base_launch_index = 3};
  EXPECT_EQ(unpack_image(record, base), image);
  EXPECT_LT(record.zstd_image.size(), pack_image(image).size() / 10);
  EXPECT_THROW((void)unpack_image(record), Error);
  EXPECT_THROW((void)unpack_image(record, Bytes(5)), Error);
  EXPECT_THROW((void)pack_image(image, Bytes(5)), Error);
}

TEST(Image, SizesThatDisagreeAreRefused) {
  RawCountersRecord record = packed(some_image());
  for (const std::uint64_t bytes : {0ULL, 99999ULL, 100001ULL, 1ULL << 40U, ~0ULL}) {
    record.image_bytes = bytes;
    try {
      (void)unpack_image(record);
      ADD_FAILURE() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "the image of the raw counters of a launch cannot be unpacked: its size is given as " +
                                     std::to_string(bytes) + " bytes");
    }
  }
}

TEST(Image, BombsAreRefusedBeforeMemoryIsTaken) {
  // A frame header that promises 2^62 bytes: magic, descriptor with an 8-byte size and single segment, the size.
  const Bytes bomb{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0};
  ASSERT_EQ(ZSTD_getFrameContentSize(bomb.data(), bomb.size()), 1ULL << 62U);
  EXPECT_THROW((void)unpack_image({.image_bytes = 1ULL << 62U, .zstd_image = bomb}), Error);
}

TEST(Image, FramesThatHoldLessThanTheyPromiseAreRefused) {
  // 64 MiB are promised; one empty last block follows.
  const Bytes liar{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x04, 1, 0, 0};
  ASSERT_EQ(ZSTD_getFrameContentSize(liar.data(), liar.size()), 64ULL << 20U);
  EXPECT_THROW((void)unpack_image({.image_bytes = 64ULL << 20U, .zstd_image = liar}), Error);
}

TEST(Image, OnlyOneWholeFrameIsTaken) {
  const RawCountersRecord good = packed(some_image());
  RawCountersRecord bad = good;
  bad.zstd_image.pop_back();
  EXPECT_THROW((void)unpack_image(bad), Error);
  bad = good;
  bad.zstd_image.push_back(0);
  EXPECT_THROW((void)unpack_image(bad), Error);
  bad = good;
  bad.zstd_image.insert(bad.zstd_image.end(), good.zstd_image.begin(), good.zstd_image.end());
  EXPECT_THROW((void)unpack_image(bad), Error);
  bad.zstd_image.clear();
  EXPECT_THROW((void)unpack_image(bad), Error);
}

TEST(Image, DamageNeverCrashes) {
  const Bytes image(2000, 3);
  const RawCountersRecord good = packed(image);
  for (std::size_t i = 0; i < good.zstd_image.size(); ++i) {
    RawCountersRecord bad = good;
    bad.zstd_image[i] ^= 0xff;
    try {
      EXPECT_EQ(unpack_image(bad).size(), image.size());
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), testing::HasSubstr("raw counters"));
    }
  }
}

}  // namespace
}  // namespace dlkprof::capture::image_test
