#include "view/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace dlkprof::view::gzip_test {
namespace {

constexpr std::size_t kMost = 64U << 20U;

// Of which no two pieces are the same.
std::string noise(std::size_t bytes) {
  std::string text;
  std::uint32_t state = 7;
  while (text.size() < bytes) text += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  return text;
}

TEST(GzipTest, WhatIsUnpackedIsWhatWasPacked) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(5'000'000, 'x'), noise(3'000'000)})
    EXPECT_EQ(gunzip(gzip(text), kMost), text);
}

TEST(GzipTest, TheSameBytesGiveTheSameFile) {
  EXPECT_EQ(gzip("dlkprof"), gzip("dlkprof"));
  EXPECT_EQ(gzip("dlkprof").substr(4, 4), std::string(4, '\0'));  // no time of day (RFC 1952, 2.3)
}

TEST(GzipTest, WhatIsDamagedCutOrTooLongIsRefused) {
  const std::string packed = gzip(noise(100'000));
  std::string damaged = packed;
  damaged[50'000] = static_cast<char>(damaged[50'000] ^ 0x55);
  EXPECT_THROW((void)gunzip(damaged, kMost), Error);
  EXPECT_THROW((void)gunzip(packed.substr(0, packed.size() / 2), kMost), Error);
  EXPECT_THROW((void)gunzip(gzip(std::string(5'000'000, 'x')), 1'000'000), Error);
  EXPECT_THROW((void)gunzip("no gzip at all", kMost), Error);
}

// RFC 4648, chapter 10.
TEST(Base64Test, VectorsOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace dlkprof::view::gzip_test
