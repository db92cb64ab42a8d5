#include "advise/sampled_loops.h"

#include <gtest/gtest.h>

namespace dlkprof::advise::sampled_loops_test {
namespace {

// Kernel 0: a loop of instructions 16 to 48, with one of 32 alone in it; lines 5 to 7.
struct TwoLoops {
  TwoLoops() {
    samples.reasons = {"smsp__pcsamp_warps_issue_stalled_wait"};
    samples.functions = {{0, 11}, {0, 12}};
    samples.files = {"", "/src/a.cu", "/lib/inlined.cuh"};
    samples.instructions = {{0, 0, 1, 4}, {0, 16, 1, 5}, {0, 32, 1, 7}, {0, 48, 2, 900}, {1, 0, 0, 0}};
    samples.stalls = {{0, 0, 10, 10}, {1, 0, 20, 20}, {2, 0, 40, 40}, {3, 0, 10, 10}, {4, 0, 20, 20}};
    sass.functions.resize(2);
    sass.functions[0].loops = {{16, 48}, {32, 32, 0}};
    for (const std::uint32_t loop : {model::kNoLoop, 0U, 1U, 0U}) {
      const std::uint64_t offset = 16 * sass.functions[0].instructions.size();
      sass.functions[0].instructions.push_back(
          {.offset = offset, .text = "NOP", .file = "/src/code.cu", .line = 99, .loop = loop});
    }
  }
  model::PcSamples samples;
  model::Sass sass;
};

TEST(SampledLoops, HoldTheSamplesOfThoseWithin) {
  const TwoLoops found;
  const SampledLoops loops(found.samples, found.sass);
  EXPECT_EQ(loops.of(0), nullptr);
  ASSERT_NE(loops.of(1), nullptr);
  EXPECT_EQ(loops.of(1), loops.of(3)) << "the same loop";
  EXPECT_DOUBLE_EQ(loops.of(1)->percent.value(), 70) << "of all that the kernel has, in whatever machine code";
  EXPECT_EQ(loops.of(1)->head, 16U);
  EXPECT_EQ(loops.of(1)->last, 48U);
  EXPECT_DOUBLE_EQ(loops.of(2)->percent.value(), 40);
  EXPECT_EQ(loops.of(4), nullptr) << "its code is not known";
}

TEST(SampledLoops, HaveTheLinesOfTheFileThatMostOfThemIsOf) {
  const TwoLoops found;
  const SampledLoops loops(found.samples, found.sass);
  EXPECT_EQ(loops.of(1)->first_line, 5U);
  EXPECT_EQ(loops.of(1)->last_line, 7U);
  EXPECT_EQ(loops.of(2)->first_line, 7U);
}

TEST(SampledLoops, LinesComeFromTheCodeWhereNobodyElseKnowsThem) {
  TwoLoops found;
  for (model::PcInstruction& one : found.samples.instructions) one.file = one.line = 0;
  const SampledLoops loops(found.samples, found.sass);
  EXPECT_EQ(loops.of(1)->first_line, 99U);
  EXPECT_EQ(loops.of(1)->last_line, 99U);
}

TEST(SampledLoops, WithoutMachineCodeThereAreNone) {
  const TwoLoops found;
  const model::Sass nothing;
  const SampledLoops loops(found.samples, nothing);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(loops.of(i), nullptr);
}

}  // namespace
}  // namespace dlkprof::advise::sampled_loops_test
