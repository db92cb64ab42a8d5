#include "model/samples/instruction_counts.h"

#include <gtest/gtest.h>

#include "support/pc_samples.h"

namespace dlkprof::model::instruction_counts_test {
namespace {

TEST(InstructionCounts, AddUpTheLaunches) {
  const PcSamples samples = test::counted_pc_samples();
  const InstructionCounts counts(samples);
  EXPECT_EQ(counts.of(0, SassMetric::instructions), 110U);
  EXPECT_EQ(counts.launches(0), 2U);
  EXPECT_EQ(counts.launches(1), 2U) << "which one of them did not run";
  EXPECT_EQ(counts.excess(0, SassMetric::global_sectors, SassMetric::ideal_global_sectors), 640U);
  EXPECT_EQ(counts.per_warp(1, SassMetric::threads), 30);
}

TEST(InstructionCounts, TellZeroFromUnknown) {
  const PcSamples samples = test::counted_pc_samples();
  const InstructionCounts counts(samples);
  EXPECT_EQ(counts.of(2, SassMetric::instructions), 0U) << "another instruction of its function was counted";
  EXPECT_EQ(counts.per_warp(2, SassMetric::threads), std::nullopt);
  EXPECT_EQ(counts.of(3, SassMetric::instructions), std::nullopt) << "its function was not counted";
  EXPECT_EQ(counts.launches(3), 0U);
  EXPECT_EQ(counts.of(0, SassMetric::shared_wavefronts), std::nullopt) << "the GPU does not count it";
  EXPECT_EQ(counts.excess(0, SassMetric::shared_wavefronts, SassMetric::ideal_shared_wavefronts), std::nullopt);
}

TEST(InstructionCounts, OfHostileFilesStayInBounds) {
  PcSamples samples = test::counted_pc_samples();
  samples.sass_metrics.emplace_back("of_tomorrow");
  samples.counts.push_back({0, 1, 5, 8});
  for (const std::uint32_t config : {2U, 3U, 4U, 5U, 6U}) samples.counts.push_back({0, config, 0, kMostPcSamples});
  samples.counts.push_back({5, 1, 4, 9});  // more needed than asked for
  const InstructionCounts counts(samples);
  EXPECT_EQ(counts.of(0, SassMetric::instructions), kMostPcSamples);
  EXPECT_EQ(counts.of(0, SassMetric::global_sectors), 880U);
  EXPECT_EQ(counts.excess(5, SassMetric::global_sectors, SassMetric::ideal_global_sectors), 0U);
}

}  // namespace
}  // namespace dlkprof::model::instruction_counts_test
