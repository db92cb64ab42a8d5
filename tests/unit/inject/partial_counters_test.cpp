#include "inject/replay/partial_counters.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace dlkprof::inject::partial_counters_test {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30U;

PartialCounters::Range range_of(Ledger::Entry entry, std::uint64_t launch, std::size_t bytes = 10, std::uint32_t occurrence = 0) {
  PartialCounters::Range range;
  range.launch.entry = entry;
  range.launch.record.index = launch;
  range.launch.record.occurrence = occurrence;
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time; what is random does not shrink
  std::vector<std::uint8_t> image(bytes);
  for (auto& byte : image) byte = static_cast<std::uint8_t>(random());
  range.counters = PackedRange(PackedRange::blocks_of(image, std::vector<std::uint8_t>(bytes)), nullptr);
  return range;
}

std::vector<std::uint64_t> launches(const std::vector<PartialCounters::Range>& ranges) {
  std::vector<std::uint64_t> indices;
  for (const auto& range : ranges) indices.push_back(range.launch.record.index);
  return indices;
}
using Launches = std::vector<std::uint64_t>;

TEST(PartialCounters, GiveOneRangeOfEachPass) {
  PartialCounters partial(3, kPlenty);
  partial.add(1, range_of(7, 10));
  partial.add(1, range_of(7, 20));
  partial.add(0, range_of(7, 30));
  partial.add(2, range_of(8, 40));
  EXPECT_TRUE(partial.take_complete(7).empty());
  EXPECT_TRUE(partial.take_complete(9).empty());
  partial.add(2, range_of(7, 50));
  EXPECT_EQ(launches(partial.take_complete(7)), (Launches{30, 10, 50}));
  EXPECT_TRUE(partial.take_complete(7).empty());
  partial.add(0, range_of(7, 60));
  partial.add(2, range_of(7, 70));
  EXPECT_EQ(launches(partial.take_complete(7)), (Launches{60, 20, 70}));
}

TEST(PartialCounters, GiveWhatIsIncompleteAtTheEnd) {
  PartialCounters partial(2, kPlenty);
  for (const std::size_t pass : {0, 1, 1}) partial.add(pass, range_of(7, pass));
  EXPECT_EQ(partial.take_complete(7).size(), 2U);
  partial.add(1, range_of(8, 80));
  EXPECT_EQ(launches(partial.take_incomplete()), Launches{80}) << "7 was complete once";
  EXPECT_TRUE(partial.take_incomplete().empty());
  EXPECT_EQ(partial.bytes(), 0U);
}

TEST(PartialCounters, CountTheirBytes) {
  PartialCounters partial(2, kPlenty);
  partial.add(0, range_of(7, 1, 1000));
  const std::size_t one = partial.bytes();
  EXPECT_GE(one, 1000U);
  partial.add(1, range_of(7, 2, 1000));
  EXPECT_EQ(partial.bytes(), 2 * one);
  (void)partial.take_complete(7);
  EXPECT_EQ(partial.bytes(), 0U);
}

TEST(PartialCounters, GiveUpWhatTakesTheLeastGpuTime) {
  PartialCounters partial(2, 5'000);
  partial.set_gpu_time(1, 100'000);
  partial.set_gpu_time(2, 10);
  partial.set_gpu_time(3, 10);
  partial.add(0, range_of(1, 1, 1000));
  partial.add(0, range_of(2, 2, 1000));
  partial.add(0, range_of(3, 3, 1000, 1'000'000));  // launched so often
  partial.add(0, range_of(4, 4, 2500));
  EXPECT_LE(partial.bytes(), 5'000U);
  EXPECT_EQ(partial.given_up(), 2U);
  partial.add(1, range_of(2, 5));
  EXPECT_TRUE(partial.take_complete(2).empty());
  partial.add(1, range_of(1, 6));
  partial.add(1, range_of(3, 7));
  EXPECT_EQ(partial.take_complete(1).size(), 2U);
  EXPECT_EQ(partial.take_complete(3).size(), 2U);
}

}  // namespace
}  // namespace dlkprof::inject::partial_counters_test
