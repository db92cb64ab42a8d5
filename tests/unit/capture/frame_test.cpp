#include "capture/frame.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace dlkprof::capture::frame_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes packed(const Bytes& content) { return pack_frame(std::as_bytes(std::span(content)), 1, "a thing"); }

std::string refusal(const Bytes& frame, std::uint64_t bytes) {
  try {
    (void)unpack_frame(frame, bytes, "a thing");
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST(Frame, ComesBackAsItWas) {
  for (const Bytes& content : {Bytes(), Bytes(1, 7), Bytes(100'000, 3)})
    EXPECT_EQ(unpack_frame(packed(content), content.size(), "a thing"), content);
}

TEST(Frame, SaysWhatCannotBeUnpackedAndWhy) {
  const Bytes good = packed(Bytes(1000, 3));
  EXPECT_EQ(refusal(good, 999), "a thing cannot be unpacked: its size is given as 999 bytes");
  EXPECT_EQ(refusal(Bytes(8, 1), 1000), "a thing cannot be unpacked: its size is given as 1000 bytes");
  Bytes more = good;
  more.push_back(0);
  EXPECT_EQ(refusal(more, 1000), "a thing cannot be unpacked: it is not one zstd frame");
  Bytes damaged = packed(Bytes{1, 2, 3, 4, 5, 6, 7, 8});
  damaged[damaged.size() - 11] ^= 0x04;  // of the header of its one block
  EXPECT_EQ(refusal(damaged, 8), "a thing cannot be unpacked: Data corruption detected");
}

}  // namespace
}  // namespace dlkprof::capture::frame_test
