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

TEST(CacheRelease, KeepsTheFirstGibibyte) {
  CacheRelease release;
  EXPECT_EQ(release.add(CacheRelease::kKept), std::nullopt);
  EXPECT_EQ(release.add(CacheRelease::kStep - 1), std::nullopt);
  EXPECT_EQ(release.add(1), (CacheRelease::Extent{CacheRelease::kKept, CacheRelease::kStep}));
}

TEST(CacheRelease, GoesOnStepByStep) {
  CacheRelease release;
  std::uint64_t released = 0;
  int calls = 0;
  constexpr std::uint64_t kPiece = 1U << 16U;
  constexpr std::uint64_t kPieces = 4 * CacheRelease::kKept / kPiece;
  for (std::uint64_t i = 1; i <= kPieces; ++i) {
    const auto extent = release.add(kPiece);
    if (!extent) continue;
    ++calls;
    EXPECT_EQ(extent->offset, CacheRelease::kKept);
    released = extent->offset + extent->bytes;
    EXPECT_EQ(released, i * kPiece);
  }
  EXPECT_EQ(calls, 3 * CacheRelease::kKept / CacheRelease::kStep);
  EXPECT_EQ(released, 4 * CacheRelease::kKept);
}

TEST(CacheRelease, TakesPiecesLargerThanAStep) {
  CacheRelease release;
  EXPECT_EQ(release.add(3 * CacheRelease::kKept), (CacheRelease::Extent{CacheRelease::kKept, 2 * CacheRelease::kKept}));
  EXPECT_EQ(release.add(1), std::nullopt);
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
