#include "advise/sampled_stalls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/pc_samples.h"

namespace dlkprof::advise::sampled_stalls_test {
namespace {

using testing::SizeIs;

TEST(SampledStalls, OfKernelsAreByWhatWasSampledMost) {
  const auto kernels = sampled_kernels(test::small_pc_samples());
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].kernel, 0U);
  EXPECT_EQ(kernels[0].samples, 10U);
  ASSERT_THAT(kernels[0].stalls, SizeIs(3));
  EXPECT_EQ(kernels[0].stalls[0].name, "long_scoreboard");
  EXPECT_DOUBLE_EQ(kernels[0].stalls[0].percent, 40);
  EXPECT_DOUBLE_EQ(kernels[0].stalls[0].cycles, 4.0 / 3) << "waited for each that was issued";
  EXPECT_NE(kernels[0].stalls[0].reason, nullptr);
  double all = 0;
  for (const Stall& stall : kernels[0].stalls) all += stall.percent;
  EXPECT_DOUBLE_EQ(all, 100);
  EXPECT_EQ(kernels[1].samples, 3U) << "two pieces of machine code, one kernel";
}

TEST(SampledStalls, WithoutAnIssueThereAreNoCyclesPerIssue) {
  const auto kernels = sampled_kernels(test::small_pc_samples());
  EXPECT_TRUE(std::isnan(kernels[1].stalls[0].cycles));
  EXPECT_EQ(kernels[1].stalls[0].name, "of_tomorrow");
  EXPECT_EQ(kernels[1].stalls[0].reason, nullptr);
}

TEST(SampledStalls, OfInstructionsComeKernelByKernel) {
  const model::PcSamples samples = test::small_pc_samples();
  const auto instructions = instructions_of(samples, model::InstructionCounts(samples));
  ASSERT_THAT(instructions, SizeIs(5));
  std::vector<std::uint32_t> order;
  for (const SampledInstruction& one : instructions) order.push_back(one.instruction);
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(instructions[0].samples, 5U);
  EXPECT_DOUBLE_EQ(instructions[0].percent.value(), 50);
  EXPECT_DOUBLE_EQ(instructions[0].stalls[0].percent, 80) << "of the instruction";
}

std::vector<std::uint32_t> order_of(const model::PcSamples& samples) {
  std::vector<std::uint32_t> order;
  for (const SampledInstruction& one : instructions_of(samples, model::InstructionCounts(samples)))
    order.push_back(one.instruction);
  return order;
}

TEST(SampledStalls, OfInstructionsThoseCountedFollow) {
  const model::PcSamples samples = test::counted_pc_samples();
  const auto instructions = instructions_of(samples, model::InstructionCounts(samples));
  EXPECT_THAT(order_of(samples), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  ASSERT_THAT(instructions, SizeIs(6));
  EXPECT_EQ(instructions[5].samples, 0U);
  EXPECT_EQ(instructions[5].percent, 0) << "of a kernel that was sampled";
}

TEST(SampledStalls, OfInstructionsWithoutSamplesCountsGiveTheOrder) {
  model::PcSamples samples = test::counted_pc_samples();
  samples.stalls.clear();
  EXPECT_THAT(order_of(samples), testing::ElementsAre(0, 1, 2, 5, 4)) << "instruction 3 is of no function that was counted";
  const auto instructions = instructions_of(samples, model::InstructionCounts(samples));
  EXPECT_EQ(instructions[0].percent, std::nullopt);
  samples.counts.push_back({5, 1, 0, 1000});
  EXPECT_THAT(order_of(samples), testing::ElementsAre(5, 4, 0, 1, 2)) << "kernel 1 ran most";
  samples.stalls = {{2, 1, 1, 1}};
  EXPECT_THAT(order_of(samples), testing::ElementsAre(2, 0, 1, 5, 4)) << "samples come first";
}

TEST(SampledStalls, OfLinesAreThoseThatAreKnown) {
  model::PcSamples samples = test::small_pc_samples();
  samples.instructions[1].line = 7;
  const auto lines = sampled_lines(samples);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].kernel, 0U);
  EXPECT_EQ(lines[0].file, 1U);
  EXPECT_EQ(lines[0].line, 7U);
  EXPECT_EQ(lines[0].samples, 9U);
  EXPECT_DOUBLE_EQ(lines[0].percent, 90);
  EXPECT_EQ(lines[0].stalls[0].name, "long_scoreboard");
}

TEST(SampledStalls, OfNothingAreNone) {
  EXPECT_THAT(sampled_lines({}), SizeIs(0));
  EXPECT_THAT(sampled_kernels({}), SizeIs(0));
  EXPECT_THAT(instructions_of({}, model::InstructionCounts({})), SizeIs(0));
}

TEST(SampledStalls, SamplesOfNoCyclesAreLeftOut) {
  model::PcSamples samples = test::small_pc_samples();
  for (model::PcStall& stall : samples.stalls) stall.samples = stall.cycles = 0;
  EXPECT_THAT(sampled_kernels(samples), SizeIs(0));
  EXPECT_THAT(instructions_of(samples, model::InstructionCounts(samples)), SizeIs(0));
}

TEST(SampledStalls, AreNamedAsCountersNameThem) {
  EXPECT_EQ(stall_name("smsp__pcsamp_warps_issue_stalled_long_scoreboard"), "long_scoreboard");
  EXPECT_EQ(stall_name("smsp__pcsamp_warps_issue_stalled_no_instructions"), "no_instruction");
  EXPECT_EQ(stall_name("smsp__pcsamp_warps_issue_stalled_warpgroup_arrive"), "gmma");
  EXPECT_EQ(stall_name("smsp__pcsamp_warps_issue_stalled_"), "");
  EXPECT_EQ(stall_name("something"), "something");
}

}  // namespace
}  // namespace dlkprof::advise::sampled_stalls_test
