#include "model/aggregate/steady_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "support/timeline_builder.h"

namespace dlkprof::model {

// GoogleTest looks for it under this name.
inline void PrintTo(const SteadyPart& part, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << part.count << " from " << part.first;
}

namespace steady_range_test {
namespace {

using Lengths = std::vector<double>;

// Lengths about `mean`, normally distributed with so much relative deviation.
class Noise {
 public:
  explicit Noise(unsigned seed) : random_(seed) {}
  Lengths about(double mean, std::size_t count, double deviation = 0.02) {
    std::normal_distribution<double> normal(mean, mean * deviation);
    Lengths lengths(count);
    std::generate(lengths.begin(), lengths.end(), [&] { return normal(random_); });
    return lengths;
  }
  std::size_t pick(std::size_t from, std::size_t to) { return std::uniform_int_distribution(from, to)(random_); }

 private:
  std::mt19937 random_;
};

Lengths join(std::initializer_list<Lengths> parts) {
  Lengths all;
  for (const Lengths& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(SteadyPartTest, ASlowFirstStepIsWarmUp) {
  EXPECT_EQ(steady_part(Lengths{1000, 5, 5, 5, 5, 5}), (SteadyPart{1, 5}));
  EXPECT_EQ(steady_part(Lengths{1062, 6, 5.2, 4.6, 5.2, 4.8, 4.8, 4.9, 4.3, 4.8, 4.7, 4.4}), (SteadyPart{2, 10}));
}

TEST(SteadyPartTest, AutotuningOverSeveralStepsIsWarmUpWithTheQuickOnesBetween) {
  EXPECT_EQ(steady_part(join({{500, 300, 5, 200}, Noise(1).about(5, 30)})), (SteadyPart{4, 30}));
}

TEST(SteadyPartTest, ARampIsWarmUpUntilItIsNearTheRest) {
  Lengths ramp(25);
  std::iota(ramp.rbegin(), ramp.rend(), 26);
  for (double& length : ramp) length *= 2;
  const SteadyPart part = steady_part(join({ramp, Noise(1).about(50, 60, 0.01)}));
  EXPECT_GE(part.first, 20U);
  EXPECT_LE(part.first, 25U);
}

TEST(SteadyPartTest, AQuickerBeginningIsNotSteadyEither) {
  // Until the queue of launches is full the program does not wait for the GPU.
  EXPECT_EQ(steady_part(join({Noise(1).about(24, 400), Noise(2).about(45, 600)})).first, 400U);
}

TEST(SteadyPartTest, WhatFollowsTheLoopIsLeftOut) {
  EXPECT_EQ(steady_part(join({Noise(1).about(5, 40), {500}})), (SteadyPart{0, 40}));
  EXPECT_EQ(steady_part(join({{90}, Noise(1).about(5, 40), Noise(2).about(1.5, 10)})), (SteadyPart{1, 40}));
}

TEST(SteadyPartTest, APauseInTheMiddleNeitherEndsTheRangeNorHidesWarmUp) {
  for (const std::size_t before : {4U, 10U, 20U, 35U}) {
    const Lengths loop = join({Noise(1).about(5, before), {500}, Noise(2).about(5, 40 - before)});
    EXPECT_EQ(steady_part(loop), (SteadyPart{0, 41})) << before;
    EXPECT_EQ(steady_part(join({{300}, loop})), (SteadyPart{1, 41})) << before;
  }
}

TEST(SteadyPartTest, FewLengthsStay) {
  EXPECT_EQ(steady_part(Lengths{7}), (SteadyPart{0, 1}));
  EXPECT_EQ(steady_part(Lengths{1000, 5}), (SteadyPart{0, 2}));
  EXPECT_EQ(steady_part(Lengths{1000, 5, 5}), (SteadyPart{1, 2}));
  EXPECT_EQ(steady_part(Lengths{5, 5, 5}), (SteadyPart{0, 3}));
}

TEST(SteadyPartTest, LengthsThatAreTheSameStay) {
  EXPECT_EQ(steady_part(Lengths(50, 5)), (SteadyPart{0, 50}));
  EXPECT_EQ(steady_part(Lengths(50, 0)), (SteadyPart{0, 50}));
  EXPECT_EQ(steady_part(Lengths(50, 9.2e18)), (SteadyPart{0, 50}));
}

class SteadyPartPropertyTest : public testing::TestWithParam<unsigned> {
 protected:
  Noise noise_{GetParam()};
};

TEST_P(SteadyPartPropertyTest, IsNeverEmptyAndKeepsAQuarter) {
  Lengths lengths(noise_.pick(1, 60));
  for (double& length : lengths) length = static_cast<double>(noise_.pick(0, 3) == 0 ? noise_.pick(0, 1000) : noise_.pick(9, 11));
  const SteadyPart part = steady_part(lengths);
  EXPECT_GE(4 * part.count, lengths.size());
  EXPECT_LE(part.first + part.count, lengths.size());
}

TEST_P(SteadyPartPropertyTest, FindsWarmUpAndEndExactly) {
  const std::size_t steady = noise_.pick(12, 200);
  const std::size_t head = noise_.pick(0, steady / 3);
  const std::size_t tail = noise_.pick(0, steady / 3);
  const Lengths lengths = join({noise_.about(900, head, 0.3), noise_.about(10, steady), noise_.about(300, tail, 0.3)});
  EXPECT_EQ(steady_part(lengths), (SteadyPart{head, steady}));
}

TEST_P(SteadyPartPropertyTest, ModesInRandomOrderStay) {
  Lengths lengths = noise_.about(5, noise_.pick(40, 100));
  for (double& length : lengths) length *= noise_.pick(0, 1) == 0 ? 1 : 3;
  EXPECT_EQ(steady_part(lengths), (SteadyPart{0, lengths.size()}));
}

TEST_P(SteadyPartPropertyTest, LittleVariationStays) {
  Lengths lengths(noise_.pick(3, 100));
  for (double& length : lengths) length = static_cast<double>(noise_.pick(960, 1040));
  EXPECT_EQ(steady_part(lengths), (SteadyPart{0, lengths.size()}));
}

TEST_P(SteadyPartPropertyTest, DoesNotDependOnTheUnit) {
  Lengths lengths = join({noise_.about(100, noise_.pick(0, 5), 0.5), noise_.about(10, noise_.pick(3, 80), 0.2)});
  const SteadyPart part = steady_part(lengths);
  for (double& length : lengths) length *= 1024;
  EXPECT_EQ(steady_part(lengths), part);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SteadyPartPropertyTest, testing::Range(1U, 41U));

// A program whose key node ends at these times, and that ends at 10,000.
Fold fold_of(const std::vector<std::int64_t>& ends) {
  test::TimelineBuilder builder;
  builder.range("first", 0, 1);
  for (const std::int64_t end : ends) builder.range("Optimizer.zero_grad#SGD.zero_grad", end - 5, end);
  builder.range("last", 9'999, 10'000);
  return fold(builder.build());
}

TEST(SteadyRangeTest, WithoutWholeIterationsItIsEverything) {
  const SteadyRange none = find_steady_range(fold_of({}));
  EXPECT_EQ(none.last, 0U);
  EXPECT_FALSE(none.found);
  EXPECT_EQ(none.note, "no iterations were found");
  const SteadyRange one = find_steady_range(fold_of({100}));
  EXPECT_EQ(one.first, 0U);
  EXPECT_EQ(one.last, 1U);
  EXPECT_FALSE(one.found);
  EXPECT_NE(one.note, "");
}

TEST(SteadyRangeTest, TheFirstAndTheLastIterationAreNeverPartOfIt) {
  const SteadyRange one = find_steady_range(fold_of({100, 200}));
  EXPECT_TRUE(one.found);
  EXPECT_EQ(one.first, 1U);
  EXPECT_EQ(one.last, 1U);
  EXPECT_NE(one.note, "") << "nothing can be told from one length";
  const SteadyRange five = find_steady_range(fold_of({100, 200, 300, 400, 500, 600}));
  EXPECT_EQ(five, (SteadyRange{1, 5, true, ""}));
}

TEST(SteadyRangeTest, LeavesOutIterationsThatLostTheirGpuTimes) {
  Fold fold = fold_of({100, 200, 300, 400, 500, 600});
  fold.times_lost_from_ns = 450;
  EXPECT_EQ(find_steady_range(fold), (SteadyRange{1, 3, true, ""}));
  fold.times_lost_from_ns = 150;
  EXPECT_FALSE(find_steady_range(fold).found);
}

TEST(SteadyRangeTest, LeavesOutWarmUp) {
  const SteadyRange range = find_steady_range(fold_of({100, 5'000, 5'100, 5'200, 5'300, 5'400}));
  EXPECT_EQ(range, (SteadyRange{2, 5, true, ""}));
}

}  // namespace
}  // namespace steady_range_test
}  // namespace dlkprof::model
