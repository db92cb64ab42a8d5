#include "cupti/cubin_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "cupti/elf_file.h"

namespace dlkprof::cupti::cubin_code_test {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 20U;
constexpr const char* kTiled = "_Z5tiledIfEvPKT_S2_PS0_i";

// tests/data/README.md says what it is: kernels chase and tiled<float>.
std::string sample() { return read_file(std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests/data/loops.cubin"); }

std::string code_of(Cubin cubin, const std::string& function) {
  const auto place = find_code(cubin, function);
  if (!place) return "";
  const auto file = ElfFile::open(cubin);
  const std::span<const char> bytes = file->bytes_of(file->section(place->section)).subspan(place->offset, place->bytes);
  return {bytes.begin(), bytes.end()};
}

std::vector<char> cut(const std::string& cubin, std::vector<std::string> functions, std::size_t most = kPlenty) {
  return cut_out(cubin, functions, most);
}

bool contains(const std::vector<char>& bytes, std::string_view text) {
  return std::string_view(bytes.data(), bytes.size()).find(text) != std::string_view::npos;
}

TEST(CubinCode, IsFoundByItsName) {
  const std::string cubin = sample();
  const auto place = find_code(cubin, kTiled);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->section_name, std::string(".text.") + kTiled);
  EXPECT_EQ(place->offset, 0U);
  EXPECT_EQ(place->bytes, 0x480U);
  const auto called = find_code(cubin, "$chase$_Z6scaledff");
  ASSERT_TRUE(called);
  EXPECT_EQ(called->section_name, ".text.chase");
  EXPECT_EQ(called->offset, 0x1a0U);
  for (const char* other : {"", "tiled", ".text.chase", "_Z5tiledIdEvPKT_S2_PS0_i"})
    EXPECT_FALSE(find_code(cubin, other)) << other;
}

TEST(CubinCode, OfOneFunctionIsCutOut) {
  const std::string cubin = sample();
  const std::vector<char> part = cut(cubin, {kTiled});
  ASSERT_FALSE(part.empty());
  EXPECT_LT(part.size(), cubin.size() / 2);
  EXPECT_EQ(code_of(part, kTiled), code_of(cubin, kTiled));
  EXPECT_EQ(find_code(part, kTiled)->symbol, find_code(cubin, kTiled)->symbol) << "numbers stay";
  EXPECT_FALSE(find_code(part, "chase"));
  EXPECT_FALSE(contains(part, ".text.chase"));
  EXPECT_TRUE(has_line_information(part));
  EXPECT_FALSE(contains(part, ".nv_debug_ptx_txt")) << "PTX is left out";
}

TEST(CubinCode, OfSeveralFunctionsIsCutOut) {
  const std::string cubin = sample();
  const std::vector<char> part = cut(cubin, {"no such kernel", "chase", kTiled});
  for (const char* function : {"chase", kTiled}) EXPECT_EQ(code_of(part, function), code_of(cubin, function));
}

// Cut out of what was cut out, nothing more is lost.
TEST(CubinCode, IsTheSameCutTwice) {
  const std::vector<char> once = cut(sample(), {"chase"});
  EXPECT_EQ(cut({once.begin(), once.end()}, {"chase"}), once);
}

TEST(CubinCode, ThatIsNotThereIsEmpty) {
  const std::string cubin = sample();
  EXPECT_TRUE(cut(cubin, {"no such kernel"}).empty());
  EXPECT_TRUE(cut(cubin, {}).empty());
  EXPECT_TRUE(cut("no cubin", {kTiled}).empty());
  EXPECT_TRUE(cut(cubin, {kTiled}, 2000).empty()) << "too large";
}

TEST(CubinCode, NoDamageCrashes) {
  const std::string whole = sample();
  const std::vector<std::string> functions{"chase", kTiled};
  for (std::size_t size = 0; size < whole.size(); size += 61) {
    const std::vector<char> cut_short(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_LE(cut_out(cut_short, functions, kPlenty).size(), kPlenty);
  }
  const std::size_t tables = ElfFile::open(whole)->header().e_shoff;
  std::mt19937 random(1);  // NOLINT: the same damage each time
  for (int i = 0; i < 5'000; ++i) {
    std::vector<char> damaged(whole.begin(), whole.end());
    for (int k = 0; k < 3; ++k) {
      const std::size_t range = damaged.size() - tables;
      damaged[k == 0 ? random() % 0x1000 : tables + random() % range] = static_cast<char>(random());
    }
    const std::vector<char> part = cut_out(damaged, functions, kPlenty);
    EXPECT_LE(part.size(), kPlenty);
    (void)find_code(part, kTiled);
  }
}

}  // namespace
}  // namespace dlkprof::cupti::cubin_code_test
