#include "advise/quantities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "cupti/catalogue.h"

namespace dlkprof::advise {
namespace {

TEST(Quantities, TakeTheBestMetricThatWasMeasured) {
  EXPECT_EQ(find({{"dram__bytes.sum", 7}, {"dram__bytes_read.sum", 1}, {"dram__bytes_write.sum", 2}}, Quantity::dram_bytes), 7);
  EXPECT_EQ(find({{"dram__bytes_read.sum", 1}, {"dram__bytes_write.sum", 2}}, Quantity::dram_bytes), 3);
  EXPECT_EQ(find({{"dram__bytes_read.sum", 1}}, Quantity::dram_bytes), std::nullopt) << "half of a sum is no sum";
}

TEST(Quantities, AreNeverMadeUp) {
  EXPECT_EQ(find({}, Quantity::sm_throughput), std::nullopt);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(find({{"sm__throughput.avg.pct_of_peak_sustained_elapsed", nan}}, Quantity::sm_throughput), std::nullopt);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(find({{"dram__bytes_read.sum", huge}, {"dram__bytes_write.sum", huge}}, Quantity::dram_bytes), std::nullopt);
}

TEST(Quantities, TheTensorPipeOfActiveCyclesFollowsFromCheapCounters) {
  const char* pipe = "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";
  const char* active = "TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
  EXPECT_EQ(find({{pipe, 20}, {active, 40}}, Quantity::tensor_pipe), 50);
  EXPECT_EQ(find({{pipe, 20}, {active, 40}}, Quantity::tensor_pipe_elapsed), 20);
  EXPECT_EQ(find({{pipe, 20}}, Quantity::tensor_pipe), std::nullopt);
  EXPECT_EQ(find({{pipe, 0}, {active, 0}}, Quantity::tensor_pipe), std::nullopt) << "no multiprocessor was active";
}

TEST(Quantities, CountedOccupancyComesBeforeWhatFollowsFromQuick) {
  const char* counted = "sm__warps_active.avg.pct_of_peak_sustained_active";
  EXPECT_EQ(find({{"achieved_occupancy_pct", 25}}, Quantity::achieved_occupancy), 25);
  EXPECT_EQ(find({{"achieved_occupancy_pct", 25}, {counted, 24}}, Quantity::achieved_occupancy), 24);
}

// Else a hint would send people to a section that does not have it.
TEST(Quantities, TheirSectionsCollectThem) {
  const auto catalogue = cupti::Catalogue::load(std::filesystem::path(DLKPROF_SOURCE_DIR) / "metrics");
  std::set<Quantity> seen;
  for (const QuantitySource& source : quantity_sources()) {
    EXPECT_TRUE(seen.insert(source.quantity).second);
    std::set<std::string> collected;
    for (const cupti::SectionRow& row : catalogue.section(source.section).rows) {
      collected.insert(row.metrics.begin(), row.metrics.end());
      collected.insert(row.computed);
    }
    const auto& all = source.alternatives;
    EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                            [&](const auto& metrics) {
                              return std::all_of(metrics.begin(), metrics.end(),
                                                 [&](const char* metric) { return collected.contains(metric); });
                            }))
        << source.section << " lacks " << all.front().front();
    EXPECT_STREQ(section_of(source.quantity), source.section);
  }
}

}  // namespace
}  // namespace dlkprof::advise
