#include "model/sass/sass_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "model/sass/sass_text.h"

namespace dlkprof::model::sass_loops_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Instructions 16 bytes apart; "label:" stands before the next one.
SassFunction function_of(const std::vector<std::string>& lines) {
  SassFunction function;
  std::map<std::string, std::uint64_t> labels;
  for (const std::string& line : lines) {
    const std::uint64_t offset = 16 * function.instructions.size();
    if (line.ends_with(':')) {
      labels.emplace(line.substr(0, line.size() - 1), offset);
    } else {
      function.instructions.push_back({.offset = offset, .text = line, .file = {}});
    }
  }
  find_loops(function, labels);
  return function;
}

std::vector<std::uint32_t> loops_of(const SassFunction& function) {
  std::vector<std::uint32_t> all;
  for (const SassInstruction& one : function.instructions) all.push_back(one.loop);
  return all;
}

TEST(SassLoops, OfACompiledKernelAreFound) {
  const auto sections = read_sass(read_file(std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests/data/loops.sass"));
  const SassSection& tiled = sections.at(".text._Z5tiledIfEvPKT_S2_PS0_i");
  SassFunction function{.instructions = tiled.instructions, .loops = {}};
  find_loops(function, tiled.labels);
  EXPECT_THAT(function.loops, ElementsAre(SassLoop{0x1a0, 0x350, kNoLoop}, SassLoop{0x2c0, 0x330, 0})) << "one in the other";
  EXPECT_EQ(function.at(0x190)->loop, kNoLoop);
  EXPECT_EQ(function.at(0x210)->loop, 0U);
  EXPECT_EQ(function.at(0x320)->loop, 1U);
  EXPECT_EQ(function.at(0x3b0)->loop, kNoLoop) << "what nothing reaches, as after the end of each kernel";
  EXPECT_EQ(function.at(0x211), nullptr);
}

// As ptxas puts waiting for a barrier behind the end: a branch back to code that no loop is around is none.
TEST(SassLoops, BranchesBackFromCodeMovedToTheEndAreNone) {
  const SassFunction function = function_of({"SYNCS.PHASECHK.TRYWAIT P0", "@!P0 BRA `(.L_x_1)", ".L_x_2:", "IADD3 R1", "EXIT",
                                             ".L_x_1:", "SYNCS.PHASECHK.TRYWAIT P0", "@!P0 BRA `(.L_x_1)", "BRA `(.L_x_2)"});
  EXPECT_THAT(function.loops, ElementsAre(SassLoop{0x40, 0x50, kNoLoop}));
  EXPECT_THAT(loops_of(function), ElementsAre(kNoLoop, kNoLoop, kNoLoop, kNoLoop, 0, 0, kNoLoop));
}

TEST(SassLoops, HoldCodeThatWasMovedToTheEnd) {
  const SassFunction function = function_of(
      {".L_x_0:", "MOV R1", "@P1 BRA `(.L_x_2)", ".L_x_1:", "@P0 BRA `(.L_x_0)", "EXIT", ".L_x_2:", "MOV R2", "BRA `(.L_x_1)"});
  EXPECT_THAT(function.loops, ElementsAre(SassLoop{0, 0x50, kNoLoop}));
  EXPECT_THAT(loops_of(function), ElementsAre(0, 0, 0, kNoLoop, 0, 0));
}

TEST(SassLoops, WithOneHeadAreOne) {
  const SassFunction function =
      function_of({".L_x_0:", "@P0 BRA `(.L_x_0)", "MOV R1", "BRA P2, `(.L_x_0)", "@!UP0 BRA.U `(.L_x_0)", "EXIT"});
  EXPECT_THAT(function.loops, ElementsAre(SassLoop{0, 0x30, kNoLoop}));
}

TEST(SassLoops, OfIndirectBranchesAreFoundWhereTheirTargetsAre) {
  const SassFunction function = function_of(
      {".L_x_0:", "BRX R2 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)", ".L_x_1:", "BRA `(.L_x_0)", ".L_x_2:", "EXIT"});
  EXPECT_THAT(function.loops, ElementsAre(SassLoop{0, 0x10, kNoLoop}));
}

TEST(SassLoops, OfFunctionsThatAreCalledAreFound) {
  const SassFunction function = function_of({".L_x_0:", "CALL.REL.NOINC `($k$f)", "@P0 BRA `(.L_x_0)", "EXIT", "$k$f:", "MOV R1",
                                             ".L_x_1:", "@P1 BRA `(.L_x_1)", "RET.REL.NODEC R2 `(k)"});
  EXPECT_THAT(function.loops, ElementsAre(SassLoop{0, 0x10, kNoLoop}, SassLoop{0x40, 0x40, kNoLoop}));
}

TEST(SassLoops, ThereAreNoneInStraightCode) {
  EXPECT_THAT(function_of({"MOV R1", "EXIT", ".L_x_0:", "BRA `(.L_x_0)"}).loops, IsEmpty());
  EXPECT_THAT(function_of({"@P0 BRA `(.L_x_9)", "BRA", "@", "@P0"}).loops, IsEmpty()) << "labels that there are not";
  SassFunction empty;
  find_loops(empty, {});
  EXPECT_THAT(empty.loops, IsEmpty());
}

// Each block jumps back to half of all: no compiler's work.
TEST(SassLoops, OfHostileCodeTakeNoMinutes) {
  std::vector<std::string> lines;
  for (int i = 0; i < 15'000; ++i) {
    lines.push_back(".L_x_" + std::to_string(i) + ":");
    std::string branch = "BRX R2 ";
    for (int k = 1; k <= 8; ++k) branch += ".L_x_" + std::to_string((i * k * 7919 + k) % 15'000) + ",";
    lines.push_back(std::move(branch));
    lines.push_back("@P0 BRA `(.L_x_" + std::to_string(i / 2) + ")");
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_LE(function_of(lines).loops.size(), 256U);
  std::vector<std::string> nested;
  for (int i = 0; i < 9'000; ++i) nested.push_back(".L_x_" + std::to_string(i) + ":"), nested.push_back("MOV R1");
  for (int i = 0; i < 9'000; ++i) nested.push_back("@P0 BRA `(.L_x_" + std::to_string(i) + ")");
  EXPECT_THAT(function_of(nested).loops, SizeIs(256U));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace dlkprof::model::sass_loops_test
