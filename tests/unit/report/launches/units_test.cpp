#include "report/launches/reports.h"

#include <gtest/gtest.h>

#include "support/sample_run.h"

namespace dlkprof::report::units_test {
namespace {

TEST(UnitLookup, AsksTheCatalogueThenNvperf) {
  const cupti::Catalogue catalogue = cupti::Catalogue::load(DLKPROF_SOURCE_DIR "/metrics");
  const UnitLookup unit_of = unit_lookup(catalogue, test::sample_run().timeline);
  EXPECT_EQ(unit_of("gpu__time_duration.sum"), "ns");
  EXPECT_EQ(unit_of("sm__warps_active.avg.pct_of_peak_sustained_active"), "%");
  EXPECT_FALSE(unit_of("l1tex__m_xbar2l1tex_read_bytes.sum.per_second").empty());  // in no section
  EXPECT_EQ(unit_of("no__such_metric.sum"), "");
}

}  // namespace
}  // namespace dlkprof::report::units_test
