#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/sass_counter.h"
#include "model/timeline/sass_metrics.h"

namespace dlkprof::cupti::sass_metric_names_test {
namespace {

TEST(SassMetricNames, OfTheCounterAreThoseThatReportsRead) {
  EXPECT_THAT(kSassMetrics, testing::ElementsAreArray(model::kSassMetricNames));
}

}  // namespace
}  // namespace dlkprof::cupti::sass_metric_names_test
