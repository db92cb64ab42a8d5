#include "inject/sampling/pc_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace dlkprof::inject::pc_table_test {
namespace {

using testing::ElementsAre;

template <std::size_t N>
cupti::PcHit hit(std::uint64_t offset, const std::array<cupti::PcStall, N>& stalls) {
  return {.function = "kernel", .cubin_crc = 1, .offset = offset, .stalls = stalls};
}

TEST(PcFunctions, AreNumberedOnceByMachineCodeAndName) {
  PcFunctions functions;
  EXPECT_EQ(functions.id_of(1, "a"), 0U);
  EXPECT_EQ(functions.id_of(2, "a"), 1U);
  EXPECT_EQ(functions.id_of(1, "a"), 0U);
  EXPECT_EQ(functions.take_new().size(), 2U);
  EXPECT_EQ(functions.id_of(1, "b"), 2U);
  const auto fresh = functions.take_new();
  ASSERT_EQ(fresh.size(), 1U);
  EXPECT_EQ(fresh[0].mangled_name, "b");
  EXPECT_EQ(fresh[0].id, 2U);
  EXPECT_TRUE(functions.take_new().empty());
  EXPECT_EQ(functions.all().size(), 3U);
}

TEST(PcTable, AddsUpByInstructionAndReason) {
  PcTable table;
  EXPECT_TRUE(table.empty());
  table.add(0, hit(32, std::array{cupti::PcStall{5, 2}, cupti::PcStall{3, 1}}));
  table.add(0, hit(32, std::array{cupti::PcStall{3, 4}}));
  table.add(0, hit(16, std::array{cupti::PcStall{5, 7}}));
  table.add({.samples = 14, .foreign = 1, .dropped = 2, .overflows = 1});
  table.add({.samples = 6, .foreign = 0, .dropped = 3, .overflows = 0});
  EXPECT_EQ(table.instructions(), 2U);
  const capture::PcSamplesRecord record = table.take(3, 17);
  EXPECT_EQ(record.device, 3U);
  EXPECT_EQ(record.period_log2, 17U);
  EXPECT_EQ(record.samples, 20U);
  EXPECT_EQ(record.foreign, 1U);
  EXPECT_EQ(record.dropped, 5U);
  EXPECT_EQ(record.overflows, 1U);
  ASSERT_EQ(record.counts.size(), 2U);
  EXPECT_EQ(record.counts[0].offset, 16U) << "in the order of offsets";
  EXPECT_THAT(record.counts[0].stalls, ElementsAre(capture::PcStall{5, 7}));
  EXPECT_THAT(record.counts[1].stalls, ElementsAre(capture::PcStall{5, 2}, capture::PcStall{3, 5}));
  EXPECT_TRUE(table.empty());
  EXPECT_TRUE(table.take(3, 17).counts.empty());
}

TEST(PcTable, AnOverflowAloneIsToBeTold) {
  PcTable table;
  table.add({.samples = 0, .foreign = 0, .dropped = 0, .overflows = 1});
  EXPECT_FALSE(table.empty());
}

}  // namespace
}  // namespace dlkprof::inject::pc_table_test
