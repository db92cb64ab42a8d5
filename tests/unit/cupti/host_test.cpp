#include "cupti/host.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "unit/cupti/recording.h"

namespace dlkprof::cupti::host_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kDuration = "gpu__time_duration.sum";
constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

Host hopper() { return Host::create(Library::open(), "GH100"); }

TEST(HostChips, CanAllBeCreated) {
  const std::vector<std::string> chips = Host::chips(Library::open());
  EXPECT_THAT(chips, Contains("GH100"));
  EXPECT_THAT(chips, Contains("GA100"));
  for (const std::string& chip : chips) EXPECT_EQ(Host::create(Library::open(), chip).chip(), chip);
}

TEST(HostChips, AreNamedWhereOneIsUnknown) {
  for (const std::string chip : {"GH200", "", "GH100\x1b[31m"}) {
    try {
      (void)Host::create(Library::open(), chip);
      FAIL() << chip;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.remedy(), HasSubstr("GH100"));
      EXPECT_THAT(error.message(), Not(HasSubstr("\x1b")));
    }
  }
}

TEST(Host, ListsMetricsAndTheirForms) {
  const Host host = hopper();
  EXPECT_THAT(host.base_metrics(MetricType::counter), Contains("sm__warps_active"));
  EXPECT_THAT(host.base_metrics(MetricType::ratio), Contains("lts__t_sector_hit_rate"));
  EXPECT_THAT(host.base_metrics(MetricType::throughput), Contains("sm__throughput"));
  EXPECT_THAT(host.submetrics("sm__warps_active", MetricType::counter), Contains(".avg.pct_of_peak_sustained_active"));
  EXPECT_THAT(host.submetrics("lts__t_sector_hit_rate", MetricType::ratio), Contains(".pct"));
  EXPECT_THROW((void)host.submetrics("no__such_metric", MetricType::counter), Error);
}

TEST(Host, DescribesMetrics) {
  const MetricProperties duration = hopper().properties(kDuration);
  EXPECT_EQ(duration.unit, "nanosecond");
  EXPECT_EQ(duration.hardware_unit, "gpu");
  EXPECT_EQ(duration.type, MetricType::counter);
  EXPECT_FALSE(duration.description.empty());
  EXPECT_EQ(hopper().properties("lts__t_sector_hit_rate.pct").type, MetricType::ratio);
  EXPECT_EQ(hopper().properties(kThroughput).unit, "percent");
}

TEST(Host, HasNoPropertiesOfWhatThereIsNot) {
  try {
    (void)hopper().properties("sm__nonsense.sum");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("GH100"));
    EXPECT_THAT(error.what(), HasSubstr("sm__nonsense.sum"));
    EXPECT_FALSE(error.remedy().empty());
  }
}

TEST(HostOffers, OnlyWhatCanBeScheduled) {
  const Host host = hopper();
  EXPECT_TRUE(host.offers(kWarps));
  EXPECT_TRUE(host.offers("lts__t_sector_hit_rate.pct"));
  EXPECT_TRUE(host.offers("TPC.TriageCompute.sm__cycles_active.avg"));
  EXPECT_FALSE(host.offers("sm__warps_active"));                    // no form
  EXPECT_FALSE(host.offers("sm__warps_active.median"));             // no such form
  EXPECT_FALSE(host.offers("lts__t_sector_hit_rate.sum"));          // not a form of a ratio
  EXPECT_FALSE(host.offers("ctc__rx_bytes.avg.per_cycle_active"));  // described, but not schedulable
  EXPECT_FALSE(host.offers("sm__maximum_warps_per_active_cycle_pct"));
  EXPECT_FALSE(host.offers(""));
  EXPECT_TRUE(host.offers(kWarps)) << "a refusal before must not spoil what follows";
}

// What offers() says is what plan() then does: a metric from every corner of the chip.
TEST(HostOffers, AgreeWithPlans) {
  const Host host = hopper();
  for (const MetricType type : {MetricType::counter, MetricType::ratio, MetricType::throughput}) {
    const std::vector<std::string> metrics = host.base_metrics(type);
    for (std::size_t i = 0; i < metrics.size(); i += 37) {
      const std::vector<std::string> forms = host.submetrics(metrics[i], type);
      ASSERT_FALSE(forms.empty()) << metrics[i];
      const std::string metric = metrics[i] + forms[i % forms.size()];
      if (host.offers(metric)) {
        EXPECT_GT(host.plan({metric}).passes, 0) << metric;
      } else {
        EXPECT_THROW((void)host.plan({metric}), Error) << metric;
      }
    }
  }
}

TEST(HostResolve, TakesTheFirstNameThatIsOffered) {
  const ResolvedMetrics resolved = hopper().resolve({{{kWarps, kDuration}},
                                                     {{"sm__nonsense.sum", kDuration}},
                                                     {{"ctc__rx_bytes.avg.per_cycle_active", "dram__bytes.sum"}},
                                                     {{"sm__nonsense.sum", "sm__worse.sum"}},
                                                     {{kDuration}},
                                                     {{}}});
  EXPECT_THAT(resolved.names, ElementsAre(kWarps, kDuration, "dram__bytes.sum"));
  EXPECT_THAT(resolved.unavailable, ElementsAre("sm__nonsense.sum"));
}

TEST(HostResolve, DependsOnTheChip) {
  const std::vector<capture::MetricRequest> requests{
      {{"sm__pipe_tensor_op_hmma_cycles_active.sum", "sm__pipe_tensor_subpipe_hmma_cycles_active.sum"}}};
  EXPECT_THAT(hopper().resolve(requests).names, ElementsAre("sm__pipe_tensor_op_hmma_cycles_active.sum"));
  EXPECT_THAT(Host::create(Library::open(), "GB100").resolve(requests).names,
              ElementsAre("sm__pipe_tensor_subpipe_hmma_cycles_active.sum"));
  EXPECT_THAT(hopper().resolve({}).names, IsEmpty());
}

TEST(HostPlan, CountsPasses) {
  const Host host = hopper();
  const CollectionPlan one = host.plan({kDuration});
  EXPECT_EQ(one.passes, 1);
  EXPECT_THAT(one.metrics, ElementsAre(kDuration));
  EXPECT_FALSE(one.config_image.empty());
  EXPECT_GT(host.plan({kThroughput}).passes, 1);
}

// Metrics share passes, and a plan does not carry those of the plan before.
TEST(HostPlan, IsOfItsOwnMetricsOnly) {
  const Host host = hopper();
  const std::size_t throughput = host.plan({kThroughput}).passes;
  EXPECT_EQ(host.plan({kDuration}).passes, 1);
  EXPECT_EQ(host.plan({kThroughput, kDuration, kWarps}).passes, throughput);
}

TEST(HostPlan, NamesWhatItCannotHave) {
  EXPECT_THROW((void)hopper().plan({}), Error);
  try {
    (void)hopper().plan({kDuration, "sm__nonsense.sum"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.detail(), "sm__nonsense.sum");
  }
}

TEST(HostEvaluate, GivesWhatTheMachineOfTheRecordingGave) {
  const std::vector<std::uint8_t> image = test::recorded_image();
  const test::Expected expected = test::expected_values();
  ASSERT_EQ(expected.values.size(), 71);
  ASSERT_EQ(expected.metrics.size(), 14);
  const Host host = hopper();
  for (std::size_t range = 0; range < expected.values.size(); ++range) {
    const std::vector<double> values = host.evaluate(image, range, expected.metrics);
    ASSERT_EQ(values.size(), expected.metrics.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(fmt::format("{:.6g}", values[i]), expected.values[range][i]) << "range " << range << ", " << expected.metrics[i];
    }
  }
}

TEST(HostEvaluate, LeavesOpenWhatWasNotCollected) {
  const std::vector<std::uint8_t> image = test::recorded_image();
  const std::vector<double> values =
      hopper().evaluate(image, 0, {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", kDuration});
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], 66656);
  EXPECT_THAT(hopper().evaluate(image, 0, {}), IsEmpty());
}

TEST(HostEvaluate, RefusesUnknownMetrics) {
  const std::vector<std::uint8_t> image = test::recorded_image();
  EXPECT_THROW((void)hopper().evaluate(image, 0, {"sm__nonsense.sum"}), Error);
}

TEST(Host, WorksOnAfterAMove) {
  Host first = hopper();
  Host second = std::move(first);
  EXPECT_EQ(second.plan({kDuration}).passes, 1);
  second = Host::create(Library::open(), "GA100");
  EXPECT_EQ(second.chip(), "GA100");
  EXPECT_TRUE(second.offers(kWarps));
}

}  // namespace
}  // namespace dlkprof::cupti::host_test
