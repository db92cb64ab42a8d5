#include "advise/stalls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "cupti/catalogue.h"

namespace dlkprof::advise {
namespace {

std::string metric(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

TEST(Stalls, AreSharesOfAllWarpCycles) {
  const std::vector<Stall> stalls =
      stalls_of({{metric("long_scoreboard"), 2.5}, {metric("barrier"), 0.5}, {metric("selected"), 1}, {metric("drain"), 0}});
  ASSERT_EQ(stalls.size(), 3U);
  EXPECT_EQ(stalls[0].name, "long_scoreboard");
  EXPECT_EQ(stalls[0].cycles, 2.5);
  EXPECT_EQ(stalls[0].percent, 62.5) << "2.5 of 4 cycles";
  EXPECT_EQ(stalls[1].percent, 12.5);
  EXPECT_EQ(stalls[2].name, "selected") << "no wait, and last";
}

TEST(Stalls, WhatIsNoFigureIsLeftOut) {
  EXPECT_TRUE(stalls_of({}).empty());
  EXPECT_TRUE(stalls_of({{metric("wait"), NAN}, {metric("drain"), -1}, {"smsp__average_warps_issue_stalled_x", 3}}).empty());
  EXPECT_TRUE(stalls_of({{metric("wait"), 1.7e308}, {metric("drain"), 1.7e308}}).empty()) << "their sum is none";
}

TEST(Stalls, AReasonOfALaterChipIsShownWithoutWords) {
  const std::vector<Stall> stalls = stalls_of({{metric("warp_drive"), 1}});
  ASSERT_EQ(stalls.size(), 1U);
  EXPECT_EQ(stalls[0].name, "warp_drive");
  EXPECT_EQ(stalls[0].reason, nullptr);
}

TEST(Stalls, EveryReasonThatIsCollectedIsExplained) {
  const auto catalogue = cupti::Catalogue::load(std::filesystem::path(DLKPROF_SOURCE_DIR) / "metrics");
  std::set<std::string> explained;
  for (const StallReason& reason : stall_reasons()) {
    EXPECT_TRUE(explained.insert(metric(reason.name)).second) << reason.name;
    EXPECT_EQ(std::string(reason.meaning).back(), '.') << reason.name;
  }
  std::size_t found = 0;
  for (const cupti::SectionRow& row : catalogue.section("stall").rows) {
    for (const std::string& name : row.metrics) {
      if (name.find("_issue_stalled_") == std::string::npos) continue;
      EXPECT_TRUE(explained.contains(name)) << name;
      ++found;
    }
  }
  EXPECT_EQ(found, explained.size());
}

}  // namespace
}  // namespace dlkprof::advise
