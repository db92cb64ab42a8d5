#include "report/launches/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/format/layout.h"
#include "support/sample_run.h"

namespace dlkprof::report::measured_lines_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(MeasuredLines, SayInOneLineWhereFiguresComeFrom) {
  const auto lines = lines_of(measured_lines(test::sample_run().timeline, 0));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "       2   66.29 us   0.8 %  1.76 GHz  kernel    as left gemm_tiled 64x16x1");
  EXPECT_EQ(lines[2], "       1    1.23 ms          1.76 GHz  kernel    as left gemm_simple 8x8x1") << "one launch has no spread";
}

TEST(MeasuredLines, DoNotMixWaysAndCaches) {
  model::Timeline run = test::sample_run().timeline;
  for (auto& [config, launches] : run.measured_launches) {
    if (launches.size() == 2) launches[0].replay_mode = capture::ReplayMode::iteration;
    if (launches.size() == 1) launches[0].cache_control = capture::CacheControl::all;
  }
  const std::string text = measured_lines(run, 0);
  EXPECT_EQ(lines_of(text).size(), 4U);
  EXPECT_THAT(text, HasSubstr("  iteration as left gemm_tiled"));
  EXPECT_THAT(text, HasSubstr("  kernel    flushed gemm_simple"));
}

TEST(MeasuredLines, WhatWasNotMeasuredIsEmpty) {
  model::Timeline run = test::sample_run().timeline;
  for (auto& [config, metrics] : run.measured) metrics = {{"dram__bytes.sum", {5.0, 5.0}}};
  EXPECT_EQ(lines_of(measured_lines(run, 0))[1], "       2                               kernel    as left gemm_tiled 64x16x1");
}

TEST(MeasuredLines, AreNoMoreThanAsked) {
  const std::string text = measured_lines(test::sample_run().timeline, 0, 1);
  EXPECT_THAT(text, HasSubstr("and 1 more: dlkprof report"));
  EXPECT_THAT(text, Not(HasSubstr("gemm_simple")));
}

TEST(MeasuredLines, OfNothingAreNone) {
  model::Timeline run = test::sample_run().timeline;
  run.measured_launches.clear();
  EXPECT_EQ(measured_lines(run, 0), "");
}

TEST(MeasuredLines, NeverPastTheEdge) {
  model::Timeline run = test::sample_run().timeline;
  for (model::Kernel& kernel : run.kernels) kernel.name = "\033[31m" + std::string(300, 'x');
  for (auto& [config, launches] : run.measured_launches) {
    for (model::MeasuredLaunch& launch : launches) launch.replay_mode = capture::ReplayMode::iteration;
    run.configs[config].key.grid = {4000000000U, 65535, 65535};
  }
  for (const std::string& line : lines_of(measured_lines(run, 0))) {
    EXPECT_LE(display_width(line), 80U) << line;
    EXPECT_THAT(line, Not(HasSubstr("\033")));
  }
}

}  // namespace
}  // namespace dlkprof::report::measured_lines_test
