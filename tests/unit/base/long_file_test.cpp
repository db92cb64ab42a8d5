#include "base/long_file.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "support/temporary_directory.h"

namespace dlkprof::long_file_test {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(CacheRelease, KeepsFilesUpToAGibibyte) {
  CacheRelease release;
  EXPECT_EQ(release.grown_to(CacheRelease::kLong), std::nullopt);
  EXPECT_EQ(release.grown_to(CacheRelease::kLong + CacheRelease::kStep - 1), std::nullopt);
  EXPECT_EQ(release.grown_to(CacheRelease::kLong + CacheRelease::kStep), CacheRelease::kLong + CacheRelease::kStep);
}

TEST(CacheRelease, LetsGoOfLongerOnesStepByStep) {
  CacheRelease release;
  std::uint64_t released = 0;
  int calls = 0;
  constexpr std::uint64_t kPiece = 1U << 16U;
  for (std::uint64_t size = kPiece; size <= 4 * CacheRelease::kLong; size += kPiece) {
    const auto bytes = release.grown_to(size);
    if (!bytes) continue;
    ++calls;
    EXPECT_EQ(*bytes, size);
    released = *bytes;
  }
  EXPECT_EQ(calls, 3 * CacheRelease::kLong / CacheRelease::kStep);
  EXPECT_EQ(released, 4 * CacheRelease::kLong);
}

TEST(CacheRelease, TakesPiecesLargerThanAStep) {
  CacheRelease release;
  EXPECT_EQ(release.grown_to(3 * CacheRelease::kLong), 3 * CacheRelease::kLong);
  EXPECT_EQ(release.grown_to(3 * CacheRelease::kLong + 1), std::nullopt);
}

TEST(LongFile, HoldsAllThatWasWritten) {
  const test::TemporaryDirectory folder;
  const auto path = folder.path() / "long";
  const UniqueFd file = create_private(path);
  LongFile out(file.get(), path);
  out.write(bytes_of("first "));
  out.write(bytes_of(""));
  out.write(bytes_of("second"));
  EXPECT_EQ(read_file(path), "first second");
}

TEST(LongFile, SaysWhichFileCannotBeWritten) {
  LongFile out(-1, "/somewhere/long");
  try {
    out.write(bytes_of("text"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.message()).find("/somewhere/long"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace dlkprof::long_file_test
