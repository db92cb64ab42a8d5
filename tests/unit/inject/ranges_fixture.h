// What tests of inject/timeline/ranges.h share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "inject/timeline/ranges.h"
#include "unit/inject/captured_log.h"

namespace dlkprof::inject::ranges_test {

inline constexpr std::uint32_t kDefault = 0;

class RangesTest : public testing::Test {
 protected:
  void SetUp() override { captured_.open(); }

  static RangeAttributes named(std::string_view name, std::uint32_t domain = kDefault) {
    return {.domain = domain, .message = name};
  }
  // Those that have ended, by name.
  std::map<std::string, capture::RangeEvent> ended() {
    const auto written = captured_.flushed();
    std::map<std::string, capture::RangeEvent> by_name;
    for (const auto& range : written.ranges) {
      EXPECT_TRUE(by_name.emplace(written.text(range.name), range).second) << written.text(range.name) << " twice";
    }
    return by_name;
  }

  test::CapturedLog captured_;
  Ranges ranges_{captured_.log(), captured_.recorder()};
};

}  // namespace dlkprof::inject::ranges_test
