#include "model/sass/sass_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "base/file.h"

namespace dlkprof::model::sass_text_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

std::string sample() { return read_file(std::filesystem::path(DLKPROF_SOURCE_DIR) / "tests/data/loops.sass"); }

std::vector<std::string> texts(const SassSection& section) {
  std::vector<std::string> all;
  for (const SassInstruction& one : section.instructions) all.push_back(one.text);
  return all;
}

TEST(SassText, IsReadAsNvdisasmPrintsIt) {
  const auto sections = read_sass(sample());
  ASSERT_THAT(sections, SizeIs(2));
  const SassSection& chase = sections.at(".text.chase");
  ASSERT_THAT(chase.instructions, SizeIs(0x300 / 16));
  for (std::size_t i = 0; i < chase.instructions.size(); ++i) EXPECT_EQ(chase.instructions[i].offset, 16 * i);
  const SassSection& tiled = sections.at(".text._Z5tiledIfEvPKT_S2_PS0_i");
  const SassInstruction& load = tiled.instructions.at(0x210 / 16);
  EXPECT_EQ(load.text, "LDG.E R4, desc[UR8][R4.64]");
  EXPECT_EQ(load.file, "/tmp/kernels/loops.cu");
  EXPECT_EQ(load.line, 9U);
  EXPECT_EQ(tiled.instructions.at(0x330 / 16).text, "@P0 BRA `(.L_x_5)");
  EXPECT_EQ(tiled.labels.at(".L_x_5"), 0x2c0U);
  EXPECT_EQ(chase.labels.at("$chase$_Z6scaledff"), 0x1a0U);
}

TEST(SassText, OfOtherSectionsIsSkipped) {
  EXPECT_THAT(read_sass(".section .debug_line,\"\",@progbits\n /*0000*/ .byte 0x4a ;\n"), IsEmpty());
  EXPECT_THAT(read_sass("/*0000*/ MOV R1, R2 ;\n.L_x_0:\n"), IsEmpty()) << "of no section";
  EXPECT_THAT(read_sass(""), IsEmpty());
}

TEST(SassText, WhatIsSaidOfASectionEndsItNot) {
  const auto sections = read_sass(
      "\t.section\t.text.product_kernel,\"ax\",@progbits\n\t.sectionflags\t@\"SHF_BARRIERS=1\"\n\t.sectioninfo\t@\"SHI_REGISTERS="
      "16\"\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n");
  ASSERT_THAT(sections, SizeIs(1));
  EXPECT_THAT(texts(sections.at(".text.product_kernel")), ElementsAre("LDC R1, c[0x0][0x28]"));
}

TEST(SassText, EncodingsAreNoInstructions) {
  const auto sections = read_sass(
      ".section .text.k,\"ax\"\n        /*0000*/  MOV R1, R2 ;   /* 0x00000a00ff017624 */\n"
      "                                         /* 0x000fc400078e00ff */\n        /*0010*/  EXIT ;\n");
  EXPECT_THAT(texts(sections.at(".text.k")), ElementsAre("MOV R1, R2", "EXIT"));
}

TEST(SassText, LinesThatMakeNoSenseAreSkipped) {
  const auto sections = read_sass(
      ".section .text.k,\"ax\"\n/*0020*/ NOP ;\n/*0010*/ BACK ;\n/*0020*/ AGAIN ;\n/*zz*/ X ;\n/* ; */\n/*0030*/ ;\n/*\n*/;\n"
      "//## File \"a\n//## File \"b.cu\", line x\n.L_x_0:\n.L x:\n/*0040*/ \x1b[2J\xff ;\n");
  const SassSection& section = sections.at(".text.k");
  EXPECT_THAT(texts(section), ElementsAre("NOP", "\\x1b[2J\\xff"));
  EXPECT_THAT(section.labels, ElementsAre(Pair(".L_x_0", 0x40U)));
  EXPECT_EQ(section.instructions.back().line, 0U);
}

TEST(SassText, OfMegabytesIsBounded) {
  const auto sections = read_sass(".section .text.k,\n/*0000*/ " + std::string(1 << 20U, 'x') + " ;\n/*0010*/ EXIT ;");
  EXPECT_LE(sections.at(".text.k").instructions.at(0).text.size(), 200U);
}

TEST(SassText, NoDamageCrashes) {
  const std::string whole = sample();
  std::mt19937 random(1);  // NOLINT: the same damage each time
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole.substr(random() % whole.size());
    for (int k = 0; k < 20; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    for (const auto& [name, section] : read_sass(damaged)) EXPECT_TRUE(name.starts_with(".text."));
  }
}

}  // namespace
}  // namespace dlkprof::model::sass_text_test
