#include "cupti/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "base/file.h"

namespace dlkprof::cupti::cubin_test {
namespace {

// tests/data/README.md says what it is.
std::string sample() { return read_file(std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests/data/scale_lineinfo.cubin"); }

TEST(Cubin, LinesOfAKernelAreFound) {
  const std::string cubin = sample();
  ASSERT_TRUE(has_line_information(cubin));
  const Library& library = Library::open();
  EXPECT_NE(crc_of(library, cubin), 0U);
  std::set<std::uint32_t> lines;
  for (std::uint64_t offset = 0; offset < 0x180; offset += 16) {
    const auto line = source_line(library, cubin, "scale_kernel", offset);
    ASSERT_TRUE(line) << offset;
    EXPECT_EQ(line->file, "/tmp/kernels/scale.cu");
    lines.insert(line->line);
  }
  EXPECT_TRUE(lines.contains(4)) << "data[i] *= factor;";
  EXPECT_LE(*lines.rbegin(), 5U);
}

TEST(Cubin, WhatItDoesNotTellIsNone) {
  EXPECT_FALSE(source_line(Library::open(), sample(), "another_kernel", 0));
  EXPECT_FALSE(source_line(Library::open(), std::string("no cubin"), "scale_kernel", 0));
}

TEST(Cubin, OtherBytesHaveNoLines) {
  EXPECT_FALSE(has_line_information({}));
  EXPECT_FALSE(
      has_line_information(std::string("\x7f"
                                       "ELF")));
  EXPECT_FALSE(has_line_information(std::string(4096, '\xff')));
  std::string renamed = sample();
  for (std::size_t at = 0; (at = renamed.find(".debug_line", at)) != std::string::npos; ++at) renamed[at + 1] = 'x';
  EXPECT_FALSE(has_line_information(renamed));
}

TEST(Cubin, NoDamageCrashes) {
  const std::string whole = sample();
  EXPECT_TRUE(has_line_information(whole));
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const std::string cut = whole.substr(0, size);
    const bool has_lines =
        has_line_information(std::vector<char>(cut.begin(), cut.end()));  // on a heap of its own, for the sanitizers
    EXPECT_FALSE(has_lines && size < sizeof(Elf64_Ehdr)) << size;
  }
  std::mt19937 random(1);  // NOLINT: the same damage each time
  for (int i = 0; i < 20'000; ++i) {
    std::vector<char> damaged(whole.begin(), whole.end());
    for (int k = 0; k < 4; ++k) damaged[random() % sizeof(Elf64_Ehdr)] = static_cast<char>(random());
    std::memcpy(damaged.data(), ELFMAG, SELFMAG);
    (void)has_line_information(damaged);
  }
}

}  // namespace
}  // namespace dlkprof::cupti::cubin_test
