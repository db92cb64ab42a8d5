#include "model/counter_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace dlkprof::model {
namespace {

using testing::Optional;

TEST(CounterFiguresTest, TakesTheBestMetricThereIs) {
  Counters counters;
  counters.values = {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 20.0}};
  EXPECT_THAT(counter_figure(counters, CounterFigure::tensor_pipe), Optional(20.0));
  counters.values["sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active"] = 30.0;
  EXPECT_THAT(counter_figure(counters, CounterFigure::tensor_pipe), Optional(30.0));
}

TEST(CounterFiguresTest, AddsReadsAndWritesWhereBothAreThere) {
  Counters counters;
  counters.values = {{"dram__bytes_read.sum", 5.0}};
  EXPECT_EQ(counter_figure(counters, CounterFigure::dram_bytes), std::nullopt);
  counters.values["dram__bytes_write.sum"] = 2.0;
  EXPECT_THAT(counter_figure(counters, CounterFigure::dram_bytes), Optional(7.0));
}

TEST(CounterFiguresTest, NothingMeasuredIsNothing) {
  for (int figure = 0; figure <= static_cast<int>(CounterFigure::dram_throughput); ++figure)
    EXPECT_EQ(counter_figure({}, static_cast<CounterFigure>(figure)), std::nullopt);
}

TEST(CounterFiguresTest, WhatIsNoNumberIsNotMeasured) {
  Counters counters;
  counters.values = {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", std::numeric_limits<double>::infinity()},
                     {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 12.0}};
  EXPECT_THAT(counter_figure(counters, CounterFigure::dram_throughput), Optional(12.0));
}

}  // namespace
}  // namespace dlkprof::model
