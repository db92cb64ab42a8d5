#include "model/timeline/raw_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "capture/encoding.h"
#include "model/aggregate/measured_launches.h"
#include "support/sample_capture.h"
#include "support/temporary_directory.h"
#include "unit/cupti/recording.h"

namespace dlkprof::model::raw_counters_test {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

capture::MetricSetRecord metric_set() { return {1, 0, 10, {"gpu__time_duration.sum", "dram__bytes_read.sum"}, {}}; }

// The recorded image of tests/data (see its README): launch 0 took 66,656 ns and read 6.36 MB.
capture::RawCountersRecord recorded() {
  capture::RawCountersRecord raw;
  raw.launch_index = 3;
  raw.metric_set = 1;
  const std::vector<std::uint8_t> image = test::recorded_image();
  raw.image_bytes = image.size();
  raw.zstd_image = capture::pack_image(image);
  return raw;
}

TEST(RawEvaluator, EvaluatesWithoutAGpu) {
  RawEvaluator evaluator({}, {});
  const auto values = evaluator.evaluate(recorded(), metric_set(), "GH100", false);
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(values->at("gpu__time_duration.sum"), 66656);
  EXPECT_NEAR(values->at("dram__bytes_read.sum"), 6.36442e6, 10);
  EXPECT_THAT(evaluator.notices(), IsEmpty());
}

TEST(RawEvaluator, EvaluatesOtherMetricsOfTheSameCounters) {
  RawEvaluator evaluator({}, {"dram__bytes_read.sum.per_second", "no__such_metric.sum"});
  const auto values = evaluator.evaluate(recorded(), metric_set(), "GH100", false);
  ASSERT_TRUE(values.has_value());
  EXPECT_NEAR(values->at("dram__bytes_read.sum.per_second"), 6.36442e6 / 66656e-9, 1e6);
  EXPECT_THAT(evaluator.notices(), Contains(Field(&capture::NoticeRecord::what, HasSubstr("no__such_metric.sum"))));
}

TEST(RawEvaluator, SaysOnceWhyItCannot) {
  RawEvaluator evaluator({}, {});
  EXPECT_FALSE(evaluator.evaluate(recorded(), metric_set(), "XX999", false).has_value());
  EXPECT_FALSE(evaluator.evaluate(recorded(), metric_set(), "XX999", false).has_value());
  EXPECT_EQ(evaluator.notices().size(), 1U);
}

TEST(RawEvaluator, SurvivesDamagedImages) {
  RawEvaluator evaluator({}, {});
  capture::RawCountersRecord raw = recorded();
  raw.zstd_image.resize(100);
  EXPECT_FALSE(evaluator.evaluate(capture::RawCountersRecord(raw), metric_set(), "GH100", false).has_value());
  raw.zstd_image = capture::pack_image(std::vector<std::uint8_t>(5000, 0xAB));
  raw.image_bytes = 5000;
  EXPECT_FALSE(evaluator.evaluate(capture::RawCountersRecord(raw), metric_set(), "GH100", false).has_value());
  EXPECT_FALSE(evaluator.notices().empty());
}

TEST(RawEvaluator, GivesUpAfterManyThatCannotBeEvaluated) {
  RawEvaluator evaluator({}, {});
  capture::RawCountersRecord bad = recorded();
  bad.zstd_image.resize(100);
  for (int i = 0; i < 16; ++i) {
    EXPECT_FALSE(evaluator.evaluate(capture::RawCountersRecord(bad), metric_set(), "GH100", false).has_value());
  }
  EXPECT_FALSE(evaluator.evaluate(recorded(), metric_set(), "GH100", false).has_value());
  EXPECT_EQ(evaluator.notices().size(), 1U);
}

// Four of 70 MB that are no images.
TEST(RawEvaluator, GivesUpAfterFewThatAreLarge) {
  RawEvaluator evaluator({}, {});
  const std::vector<std::uint8_t> nothing(std::size_t{70} << 20U);
  const capture::RawCountersRecord bad{1, 1, nothing.size(), capture::pack_image(nothing), capture::kNoBase};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(evaluator.evaluate(capture::RawCountersRecord(bad), metric_set(), "GH100", false).has_value());
  }
  EXPECT_TRUE(evaluator.evaluate(recorded(), metric_set(), "GH100", false).has_value());
  EXPECT_FALSE(evaluator.evaluate(capture::RawCountersRecord(bad), metric_set(), "GH100", false).has_value());
  EXPECT_FALSE(evaluator.evaluate(recorded(), metric_set(), "GH100", false).has_value());
}

// The image holds less than the metric set of the sample asks for: another that it answers. `values`: of each launch.
Timeline loaded(const std::vector<double>& values, RawEvaluator& evaluator) {
  const test::TemporaryDirectory folder;
  std::vector<capture::Record> records = test::sample_records();
  records.insert(records.end() - 2, recorded());
  capture::RawCountersRecord stray = recorded();
  stray.launch_index = 12345;
  records.insert(records.end() - 2, stray);
  for (capture::Record& record : records) {
    if (auto* set = std::get_if<capture::MetricSetRecord>(&record)) *set = metric_set();
    if (auto* launch = std::get_if<capture::LaunchRecord>(&record)) launch->values = values;
  }
  return load_timeline(std::array{test::write_capture(folder.path(), records)}, &evaluator);
}

TEST(LoadedWithCounters, WhatIsAskedForBesidesIsEvaluated) {
  RawEvaluator evaluator({}, {"dram__bytes_read.sum.per_second"});
  const Timeline run = loaded({1.0, 2.0}, evaluator);
  const std::vector<Launch> launches = launches_of(run);
  EXPECT_TRUE(launches[0].how->evaluated_here);
  EXPECT_EQ(values_of(run, launches[0]).at("gpu__time_duration.sum"), 1.0) << "as it is stored";
  EXPECT_GT(values_of(run, launches[0]).at("dram__bytes_read.sum.per_second"), 0) << "asked for besides";
  EXPECT_FALSE(launches[1].how->evaluated_here);
  EXPECT_EQ(values_of(run, launches[1]).at("gpu__time_duration.sum"), 1.0);
  EXPECT_THAT(run.notices, Contains(Field(&capture::NoticeRecord::what, HasSubstr("launch that was not measured left out: 1"))));
}

TEST(LoadedWithCounters, WhatIsNotStoredIsEvaluated) {
  RawEvaluator evaluator({}, {});
  const Timeline run = loaded({}, evaluator);
  const std::vector<Launch> launches = launches_of(run);
  EXPECT_TRUE(launches[0].how->evaluated_here);
  EXPECT_EQ(values_of(run, launches[0]).at("gpu__time_duration.sum"), 66656);
}

// Not even CUPTI is looked for, and a report of thousands takes no time.
TEST(LoadedWithCounters, NothingIsEvaluatedThatNobodyAsksFor) {
  RawEvaluator evaluator("/no/such/libcupti.so", {});
  const Timeline run = loaded({1.0, 2.0}, evaluator);
  EXPECT_FALSE(launches_of(run)[0].how->evaluated_here);
  EXPECT_THAT(evaluator.notices(), IsEmpty());
}

}  // namespace
}  // namespace dlkprof::model::raw_counters_test
