#include "model/samples/sample_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace dlkprof::model::sample_join_test {
namespace {

constexpr const char* kShare = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kRatio = "sm__inst_executed.avg.per_cycle_active";
constexpr const char* kWeight = "sm__cycles_active.sum";
constexpr const char* kCount = "dram__bytes.sum";

Activity launch(std::uint32_t config, std::int64_t start, std::int64_t end) {
  Activity activity;
  activity.start_ns = start;
  activity.end_ns = end;
  activity.config = config;
  return activity;
}

struct Taken {
  std::int64_t start, length;
  std::vector<float> values;
};

capture::SampleBatch batch_of(const std::vector<Taken>& samples, std::size_t metrics) {
  capture::SampleBatch batch;
  batch.values.resize(metrics);
  for (const Taken& sample : samples) {
    batch.start_ns.push_back(sample.start);
    batch.length_ns.push_back(sample.length);
    for (std::size_t i = 0; i < metrics; ++i) batch.values[i].push_back(sample.values[i]);
  }
  return batch;
}

TEST(SampleJoin, GivesSamplesToTheLaunchThatRan) {
  const std::vector<Activity> activities{launch(0, 100, 130), launch(1, 130, 150)};
  SampleJoin join(activities, 0);
  join.add({kShare},
           batch_of({{80, 10, {3}}, {100, 10, {40}}, {110, 10, {60}}, {125, 10, {7}}, {135, 10, {90}}, {150, 10, {0}}}, 1));
  EXPECT_EQ(join.given(), 3U);
  EXPECT_EQ(join.shared(), 1U);
  auto figures = join.finish();
  EXPECT_EQ(figures[0][kShare].samples, 2U);
  EXPECT_DOUBLE_EQ(figures[0][kShare].mean, 50);
  EXPECT_DOUBLE_EQ(figures[0][kShare].deviation, 10);
  EXPECT_EQ(figures[0][kShare].launches, 1U);
  EXPECT_EQ(figures[0][kShare].interval, std::nullopt);
  EXPECT_DOUBLE_EQ(figures[1][kShare].mean, 90);
}

// A launch of 10 ns, cut in two by samples of 10 ns, is busy for 80 % of its time; clocks ran all the time.
TEST(SampleJoin, GivesBeginningsAndEndsToALaunchBesideAnIdleGpu) {
  const std::vector<Activity> activities{launch(0, 104, 114)};
  constexpr const char* kClock = "gpc__cycles_elapsed.avg.per_second";
  SampleJoin join(activities, 0);
  join.add({kShare, kCount, kClock}, batch_of({{100, 10, {48, 60, 5}}, {110, 10, {32, 40, 5}}}, 3));
  auto figures = join.finish();
  EXPECT_DOUBLE_EQ(figures[0][kShare].mean, 80);
  EXPECT_DOUBLE_EQ(figures[0][kCount].mean, 100);
  EXPECT_DOUBLE_EQ(figures[0][kClock].mean, 5);
}

TEST(SampleJoin, MeansOfRatiosAreThoseOfTheSums) {
  const std::vector<Activity> activities{launch(0, 100, 200)};
  SampleJoin join(activities, 0);
  // 30 of 10 and 10 of 90: 40 of 100, where the plain mean would be 1.56.
  join.add({kRatio, kWeight}, batch_of({{100, 10, {3.0F, 10}}, {110, 10, {1.0F / 9, 90}}}, 2));
  EXPECT_NEAR(join.finish()[0][kRatio].mean, 0.4, 1e-6);
}

TEST(SampleJoin, CountsAreThoseOfALaunchOfMeanLength) {
  const std::vector<Activity> activities{launch(0, 100, 140), launch(0, 200, 260)};  // 50 ns on average
  SampleJoin join(activities, 0);
  join.add({kCount}, batch_of({{110, 10, {20}}, {210, 10, {40}}}, 1));  // 3 bytes a ns
  const auto figure = join.finish()[0][kCount];
  EXPECT_DOUBLE_EQ(figure.mean, 150);
  EXPECT_EQ(figure.launches, 2U);
  ASSERT_TRUE(figure.interval);
}

TEST(SampleJoin, LeavesOutValuesThatAreNone) {
  const std::vector<Activity> activities{launch(0, 100, 200)};
  SampleJoin join(activities, 0);
  join.add({kShare, kRatio, kWeight},
           batch_of({{100, 10, {NAN, 1, 0}}, {110, 10, {INFINITY, 1, NAN}}, {120, 10, {5, NAN, -1}}}, 3));
  auto figures = join.finish();
  EXPECT_DOUBLE_EQ(figures[0][kShare].mean, 5);
  EXPECT_FALSE(figures[0].contains(kRatio));  // without a weight there is no mean
}

// Pairs of launches that follow one another without a pause: of 100 ns each, the first at 20 % throughout, the second at 90 % in
// its first 5 ns and at 10 % from there. Samples of 10 ns cut each pair at another place.
std::vector<Activity> pairs_of_launches(int pairs) {
  std::vector<Activity> activities;
  for (int pair = 0; pair < pairs; ++pair) {
    activities.push_back(launch(0, 1000 * pair, 1000 * pair + 100));
    activities.push_back(launch(1, 1000 * pair + 100, 1000 * pair + 200));
  }
  return activities;
}
std::vector<Taken> samples_of_pairs(int pairs) {
  std::vector<Taken> samples;
  for (int pair = 0; pair < pairs; ++pair) {
    const std::int64_t begin = 1000 * pair;
    for (std::int64_t at = begin + pair % 10; at + 10 <= begin + 200; at += 10) {
      float sum = 0;
      for (std::int64_t ns = at - begin; ns < at - begin + 10; ++ns) sum += ns < 100 ? 20.0F : ns < 105 ? 90.0F : 10.0F;
      samples.push_back({at, 10, {sum / 10}});
    }
  }
  return samples;
}

TEST(SampleJoin, PartsSharedSamplesBetweenNeighbours) {
  const std::vector<Activity> activities = pairs_of_launches(40);
  SampleJoin join(activities, 0);
  join.add({kShare}, batch_of(samples_of_pairs(40), 1));
  auto figures = join.finish();
  EXPECT_NEAR(figures[0][kShare].mean, 20, 0.7);
  EXPECT_NEAR(figures[1][kShare].mean, 14, 0.7);  // 10.4 without the shared ones
  EXPECT_EQ(join.given() + join.shared(), 40U * 19 + 4);
}

TEST(SampleJoin, AFewSharedSamplesAreNobodys) {
  const std::vector<Activity> activities = pairs_of_launches(4);
  SampleJoin join(activities, 0);
  join.add({kShare}, batch_of(samples_of_pairs(4), 1));
  EXPECT_FLOAT_EQ(static_cast<float>(join.finish()[0][kShare].mean), 20);
}

TEST(TwoRates, AreFoundWhereTimesVary) {
  TwoRates rates;
  for (int i = 1; i < 10; ++i) rates.add(3.0 * i + 7.0 * (10 - i), i, 10 - i);
  const auto found = rates.solve();
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->first, 3, 1e-9);
  EXPECT_NEAR(found->second, 7, 1e-9);
}

TEST(TwoRates, AreNoneWhereTimesGoTogether) {
  TwoRates rates;
  for (int i = 1; i < 20; ++i) rates.add(i, i, 2 * i);
  EXPECT_FALSE(rates.solve());
  EXPECT_FALSE(TwoRates().solve());
}

TEST(TwoRates, AreNeverNegative) {
  for (const bool turned : {false, true}) {
    TwoRates one;
    for (int i = 1; i < 10; ++i) {
      const double y = 5.0 * (10 - i) - 1.0 * i;
      turned ? one.add(y, 10 - i, i) : one.add(y, i, 10 - i);
    }
    const auto found = one.solve();
    ASSERT_TRUE(found);
    EXPECT_EQ(turned ? found->second : found->first, 0);
    EXPECT_GT(turned ? found->first : found->second, 0);
  }
}

// Of batches in whatever parts, each sample counts once.
TEST(SampleJoin, PartsMakeNoDifference) {
  std::mt19937 random(5);  // NOLINT: the same each time
  std::vector<Activity> activities;
  for (int i = 0; i < 40; ++i) activities.push_back(launch(i % 3, 100 * i + 1, 100 * i + 40 + random() % 70));
  std::vector<Taken> samples;
  for (std::int64_t at = 0; at < 4000; at += 7) samples.push_back({at, 7, {static_cast<float>(random() % 100)}});
  SampleJoin whole(activities, 0), parts(activities, 0);
  whole.add({kShare}, batch_of(samples, 1));
  for (std::size_t i = 0; i < samples.size(); i += 10) {
    const std::size_t end = std::min(samples.size(), i + 10);
    parts.add(
        {kShare},
        batch_of({samples.begin() + static_cast<std::ptrdiff_t>(i), samples.begin() + static_cast<std::ptrdiff_t>(end)}, 1));
  }
  auto a = whole.finish(), b = parts.finish();
  ASSERT_EQ(a.size(), 3U);
  std::uint64_t sum = 0;
  for (const auto& [config, figures] : a) {
    EXPECT_DOUBLE_EQ(figures.at(kShare).mean, b[config][kShare].mean);
    EXPECT_DOUBLE_EQ(*figures.at(kShare).interval, *b[config][kShare].interval);
    EXPECT_EQ(figures.at(kShare).launches, b[config][kShare].launches);
    sum += figures.at(kShare).samples;
  }
  EXPECT_EQ(sum, whole.given());
}

// The interval covers the true mean about as often as it says, also where samples of one launch resemble one another.
TEST(ClusteredMean, CoversTheTrueMean) {
  std::mt19937 random(11);  // NOLINT: the same each time
  std::normal_distribution<double> of_launch(0, 5), of_sample(0, 1);
  int covered = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    ClusteredMean mean;
    for (std::uint32_t one = 0; one < 25; ++one) {
      const double level = 50 + of_launch(random);
      for (int sample = 0; sample < 8; ++sample) mean.add(one, level + of_sample(random), 1);
    }
    const auto figure = mean.finish(1);
    ASSERT_TRUE(figure && figure->interval);
    covered += std::abs(figure->mean - 50) <= *figure->interval ? 1 : 0;
  }
  EXPECT_GE(covered, kRounds * 0.92);
  EXPECT_LE(covered, kRounds * 0.98);
}

TEST(ClusteredMean, OfNothingIsNone) {
  ClusteredMean mean;
  EXPECT_FALSE(mean.finish(1));
  mean.add(0, 5, 0);
  EXPECT_FALSE(mean.finish(1));
}

}  // namespace
}  // namespace dlkprof::model::sample_join_test
