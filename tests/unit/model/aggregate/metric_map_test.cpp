#include "model/aggregate/metric_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlkprof::model::metric_map_test {
namespace {

TEST(MetricNames, OfTheSameTextAreOne) {
  const MetricName name = std::string("dram__bytes.sum");
  EXPECT_EQ(name, MetricName("dram__bytes.sum"));
  EXPECT_EQ(&name.text(), &MetricName("dram__bytes.sum").text());
  EXPECT_LT(MetricName("a"), MetricName("b"));
  EXPECT_FALSE(MetricName("a") < MetricName("a"));
}

TEST(MetricMaps, HoldWhatAMapHolds) {
  std::mt19937 random(7);
  MetricMap<int> map;
  std::map<std::string, int> expected;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "metric" + std::to_string(random() % 100);
    if (i % 2 == 0) {
      map[name] += i;
      expected[name] += i;
    } else {
      EXPECT_EQ(map.emplace(name, i).second, expected.emplace(name, i).second);
    }
  }
  ASSERT_EQ(map.size(), expected.size());
  auto one = map.begin();
  for (const auto& [name, value] : expected) {
    EXPECT_EQ(one->first.text(), name);
    EXPECT_EQ((one++)->second, value);
    EXPECT_EQ(map.at(name), value);
  }
  EXPECT_EQ(map.find("metri"), map.end());
  EXPECT_FALSE(map.contains("metric100"));
  EXPECT_EQ(map.lower_bound("metric")->first.text(), expected.begin()->first);
  EXPECT_EQ(map.lower_bound("n"), map.end());
  EXPECT_THROW((void)map.at("none"), std::out_of_range);
}

TEST(MetricMaps, AreMadeOfListsInAnyOrder) {
  EXPECT_EQ((MetricMap<double>{{"b", 2}, {"a", 1}}), (MetricMap<double>{{"a", 1}, {"b", 2}}));
}

}  // namespace
}  // namespace dlkprof::model::metric_map_test
