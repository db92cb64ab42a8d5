#include "advise/compare/compare_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace dlkprof::advise {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::Lt;
using testing::Optional;

std::vector<double> counting(double first, std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = first + static_cast<double>(i);
  return values;
}

TEST(CompareStatsTest, QuartilesLieBetweenValues) {
  const Spread spread = spread_of({40, 10, 30, 20});
  EXPECT_EQ(spread.n, 4U);
  EXPECT_DOUBLE_EQ(spread.median, 25);
  EXPECT_DOUBLE_EQ(spread.lower, 17.5);
  EXPECT_DOUBLE_EQ(spread.upper, 32.5);
}

TEST(CompareStatsTest, OneValueIsItsOwnSpread) {
  const Spread spread = spread_of({7});
  EXPECT_EQ(spread.n, 1U);
  EXPECT_DOUBLE_EQ(spread.lower, 7);
  EXPECT_DOUBLE_EQ(spread.upper, 7);
  EXPECT_EQ(spread_of({}).n, 0U);
}

// U = 0, mean 32, variance 8 * 8 * 17 / 12: z = 31.5 / 9.5219, by hand.
TEST(CompareStatsTest, SamplesThatLieApart) {
  EXPECT_THAT(mann_whitney(counting(1, 8), counting(9, 8)), Optional(DoubleNear(0.00093910, 1e-7)));
  EXPECT_THAT(mann_whitney(counting(9, 8), counting(1, 8)), Optional(DoubleNear(0.00093910, 1e-7)));
}

TEST(CompareStatsTest, TiesShrinkTheVariance) {
  const std::vector<double> a{1, 1, 1, 1, 1, 1, 2, 2};
  const std::vector<double> b{2, 2, 2, 2, 2, 2, 2, 2};
  // Six of 1 share rank 3.5 and ten of 2 share 11.5: the ranks of a add up to 44, and U is 8. Ties of 6 and 10 make the variance
  // 64 / 12 * (17 - (210 + 990) / 240) = 64.
  EXPECT_THAT(mann_whitney(a, b), Optional(DoubleNear(std::erfc(23.5 / 8 / std::sqrt(2.0)), 1e-12)));
}

TEST(CompareStatsTest, TheSameValuesAreNoChange) {
  const std::vector<double> same(20, 5.0);
  EXPECT_THAT(mann_whitney(same, same), Optional(DoubleEq(1)));
  EXPECT_THAT(mann_whitney(counting(1, 20), counting(1, 20)), Optional(DoubleEq(1)));
}

TEST(CompareStatsTest, TooFewValuesSayNothing) {
  EXPECT_EQ(mann_whitney(counting(1, kLeastValues - 1), counting(100, 50)), std::nullopt);
  EXPECT_EQ(mann_whitney(counting(1, 50), counting(100, kLeastValues - 1)), std::nullopt);
  EXPECT_NE(mann_whitney(counting(1, kLeastValues), counting(100, kLeastValues)), std::nullopt);
}

// Of runs that do not differ about as many are called changed as p says; one slow iteration changes nothing.
TEST(CompareStatsTest, NoiseIsCalledAChangeAsRarelyAsPromised) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> times(0, 0.1);
  constexpr int kTrials = 2000;
  int changed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a(19);
    std::vector<double> b(19);
    for (double& value : a) value = times(random);
    for (double& value : b) value = times(random);
    a.front() *= 200;
    if (*mann_whitney(a, b) < 0.05) ++changed;
  }
  EXPECT_GT(changed, kTrials * 0.03);
  EXPECT_LT(changed, kTrials * 0.07);
}

TEST(CompareStatsTest, AShiftBeyondTheSpreadIsFound) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> times(100, 3);
  std::vector<double> a(19);
  std::vector<double> b(19);
  for (double& value : a) value = times(random);
  for (double& value : b) value = times(random) + 10;
  EXPECT_THAT(mann_whitney(a, b), Optional(Lt(0.001)));
}

// Holm's own steps: 3 * 0.01, then at least that much for 2 * 0.02, and 1 * 0.03 again.
TEST(CompareStatsTest, CorrectsForHowManyAreLookedAt) {
  std::vector<std::optional<double>> ps{0.03, std::nullopt, 0.01, 0.02};
  correct_for_many(ps);
  EXPECT_THAT(ps[0], Optional(DoubleEq(0.04)));
  EXPECT_EQ(ps[1], std::nullopt);
  EXPECT_THAT(ps[2], Optional(DoubleEq(0.03)));
  EXPECT_THAT(ps[3], Optional(DoubleEq(0.04)));
}

TEST(CompareStatsTest, NoProbabilityIsAboveOne) {
  std::vector<std::optional<double>> ps{0.9, 0.8};
  correct_for_many(ps);
  EXPECT_THAT(ps[0], Optional(DoubleEq(1)));
  EXPECT_THAT(ps[1], Optional(DoubleEq(1)));
}

}  // namespace
}  // namespace dlkprof::advise
