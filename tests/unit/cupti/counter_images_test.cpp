#include "cupti/counter_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace dlkprof::cupti::counter_images_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::IsSupersetOf;
using testing::SizeIs;

using Names = std::vector<std::string>;

constexpr const char* kActive = "sm__cycles_active.avg";
constexpr const char* kMostActive = "sm__cycles_active.max";
constexpr const char* kThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kSass = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";

Host host_of(const char* chip = "GH100") { return Host::create(Library::open(), chip); }
Names counters_of(const CollectionPlan& plan) { return raw_counters(NvPerf::open(Library::open()), plan); }
bool are_there(const char* chip, const Names& metrics) {
  const Host host = host_of(chip);
  const CollectionPlan plan = host.plan(metrics);
  const CollectionPlan* const plans[] = {&plan};
  return CounterImages::create(Library::open(), host, plans).has_value();
}

// What images hold takes a GPU's driver: tests/e2e measures with the fakes, bench/instance_needs and tests/gpu on GPUs.

TEST(RawCounters, OfAPlanAreNamedOnce) {
  const Host host = host_of();
  const CollectionPlan plan = host.plan({kThroughput, kActive});
  ASSERT_GT(plan.passes, 1U);
  Names counters = counters_of(plan);
  EXPECT_THAT(counters, IsSupersetOf(counters_of(host.plan({kActive}))));
  std::sort(counters.begin(), counters.end());
  EXPECT_EQ(std::adjacent_find(counters.begin(), counters.end()), counters.end());
}

TEST(RawCounters, OfTheLargestAndTheMeanAreTheSame) {
  EXPECT_EQ(counters_of(host_of().plan({kActive})), counters_of(host_of().plan({kMostActive})));
}

TEST(MetricsOfInstances, AreThoseOfTheChipAndOfTheSmallestAndLargest) {
  const Names asked = {kActive, kMostActive, "gpc__cycles_elapsed.min.per_second", "l1tex__t_sector_hit_rate.pct", kThroughput};
  const auto needed = metrics_of_instances(host_of(), asked);
  EXPECT_THAT(needed, AllOf(Contains("sm__mio2rf_writeback_active.sum"), Contains(kMostActive),
                            Contains("gpc__cycles_elapsed.min.per_second"), SizeIs(6)));
}

TEST(MetricsOfInstances, OfTheChipAreOffered) {
  const Host host = host_of();
  const auto needed = metrics_of_instances(host, {});
  ASSERT_THAT(needed, SizeIs(4));
  for (const std::string& metric : needed) EXPECT_TRUE(host.offers(metric)) << metric;
}

TEST(CounterImages, AreThereWhereItIsKnownWhatNeedsInstances) {
  EXPECT_TRUE(host_of().can_sum(host_of().plan({kThroughput})));
  EXPECT_TRUE(are_there("GH100", {kThroughput}));
  EXPECT_FALSE(are_there("GA100", {kThroughput}));
  EXPECT_FALSE(are_there("GH100", {kActive, kSass}));
}

}  // namespace
}  // namespace dlkprof::cupti::counter_images_test
