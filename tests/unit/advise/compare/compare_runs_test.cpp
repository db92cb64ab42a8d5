#include "advise/compare/compare_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dlkprof::advise {
namespace {

using model::Direction;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Lt;
using testing::Optional;
using testing::SizeIs;

constexpr std::size_t kIterations = 20;

// Times that spread by 2 % around `ns`, in an order of their own.
std::vector<double> times(double ns, std::size_t n = kIterations, std::size_t shift = 0) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(ns * (1 + 0.02 * (static_cast<double>((7 * i + shift) % 11) - 5) / 5));
  return values;
}

OpFigures op(const std::string& name, const std::string& type, std::vector<double> gpu_ns,
             Direction replay_mode = Direction::none) {
  OpFigures made;
  made.name = name;
  made.type = type;
  made.direction = replay_mode;
  made.gpu_ns = std::move(gpu_ns);
  made.gpu = spread_of(made.gpu_ns);
  made.occurs = made.gpu_ns.size();
  made.kernels = {{.name = "k", .long_name = "k<1>"}};
  return made;
}

RunFigures run(std::vector<OpFigures> ops, std::optional<std::uint64_t> batch_size = std::nullopt) {
  RunFigures made;
  made.has_iterations = true;
  made.batch_size = batch_size;
  made.iteration_ns = times(1000);
  made.iteration = spread_of(made.iteration_ns);
  made.gpu_ns = times(500);
  made.gpu = spread_of(made.gpu_ns);
  made.ops = std::move(ops);
  return made;
}

OpPair only(const Comparison& comparison) {
  EXPECT_THAT(comparison.ops, SizeIs(1));
  return comparison.ops.empty() ? OpPair{} : comparison.ops.front();
}

TEST(CompareRunsTest, OpsAreTheSameByNameDirectionAndType) {
  const RunFigures base = run({op("/conv", "bias", times(10), Direction::bprop), op("/conv", "grad", times(20), Direction::bprop),
                               op("/conv", "conv", times(30), Direction::fprop)});
  const RunFigures other =
      run({op("/conv", "conv", times(31), Direction::fprop), op("/conv", "grad", times(21), Direction::bprop),
           op("/conv", "bias", times(11), Direction::bprop)});
  const Comparison made = compare(base, other);
  ASSERT_THAT(made.ops, SizeIs(3));
  for (const OpPair& pair : made.ops) {
    ASSERT_NE(pair.base, nullptr);
    ASSERT_NE(pair.other, nullptr);
    EXPECT_EQ(pair.base->type, pair.other->type);
    EXPECT_EQ(pair.base->direction, pair.other->direction);
  }
  EXPECT_EQ(made.ops.front().either().type, "conv");  // the longest comes first
}

TEST(CompareRunsTest, OfOneNameAndDirectionTheTypeMayDiffer) {
  const RunFigures base = run({op("/conv", "cudnn", times(10), Direction::fprop)});
  const RunFigures other = run({op("/conv", "slow", times(10), Direction::fprop)});
  const OpPair pair = only(compare(base, other));
  EXPECT_EQ(pair.base->type, "cudnn");
  EXPECT_EQ(pair.other->type, "slow");
}

TEST(CompareRunsTest, WhatMayBeSeveralIsNotGuessed) {
  const RunFigures base = run({op("/conv", "a", times(10))});
  const RunFigures other = run({op("/conv", "b", times(10)), op("/conv", "c", times(10))});
  EXPECT_THAT(compare(base, other).ops, SizeIs(3));
  EXPECT_THAT(compare(other, base).ops, SizeIs(3));
}

TEST(CompareRunsTest, TheOtherDirectionIsAnotherOp) {
  const RunFigures base = run({op("/conv", "a", times(10), Direction::fprop)});
  const RunFigures other = run({op("/conv", "a", times(10), Direction::bprop)});
  const Comparison made = compare(base, other);
  ASSERT_THAT(made.ops, SizeIs(2));
  EXPECT_EQ(std::count_if(made.ops.begin(), made.ops.end(), [](const OpPair& pair) { return pair.base == nullptr; }), 1);
  EXPECT_EQ(std::count_if(made.ops.begin(), made.ops.end(), [](const OpPair& pair) { return pair.other == nullptr; }), 1);
  EXPECT_EQ(made.ops.front().change.verdict, ChangeVerdict::untested);
}

TEST(CompareRunsTest, RareOpsAreCountedAndLeftOut) {
  const RunFigures base = run({op("/setup", "a", {}), op("/step", "a", times(10))});
  const RunFigures other = run({op("/step", "a", times(10)), op("/other", "a", {})});
  const Comparison made = compare(base, other);
  EXPECT_EQ(only(made).either().name, "/step");
  EXPECT_EQ(made.rare, 2U);
}

TEST(CompareRunsTest, TheSpreadExplainsASmallDifference) {
  const RunFigures base = run({op("/op", "a", times(1000))});
  const RunFigures other = run({op("/op", "a", times(1001, kIterations, 3))});
  EXPECT_EQ(only(compare(base, other)).change.verdict, ChangeVerdict::no_change);
}

TEST(CompareRunsTest, ADifferenceBeyondTheSpreadIsAChange) {
  const RunFigures base = run({op("/op", "a", times(1000))});
  const RunFigures other = run({op("/op", "a", times(1050, kIterations, 3))});
  EXPECT_EQ(only(compare(base, other)).change.verdict, ChangeVerdict::slower);
  EXPECT_EQ(only(compare(other, base)).change.verdict, ChangeVerdict::faster);
  EXPECT_THAT(only(compare(base, other)).change.p, Optional(Lt(kSignificance)));
  EXPECT_THAT(only(compare(base, other)).change.ratio, Optional(DoubleNear(1.05, 1e-9)));
}

TEST(CompareRunsTest, ManyOpsTakeMoreProof) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 8; ++i) {
    a.push_back(1 + i);
    b.push_back(i < 6 ? 9 + i : 4.5 + i);  // p of about 0.003
  }
  EXPECT_EQ(only(compare(run({op("/op", "a", a)}), run({op("/op", "a", b)}))).change.verdict, ChangeVerdict::slower);
  std::vector<OpFigures> more{op("/op", "a", a)};
  std::vector<OpFigures> others{op("/op", "a", b)};
  for (int i = 0; i < 20; ++i) {
    more.push_back(op("/same" + std::to_string(i), "a", times(1)));
    others.push_back(more.back());
  }
  const RunFigures base = run(more);
  const RunFigures other = run(others);
  const Comparison made = compare(base, other);
  const auto found = std::find_if(made.ops.begin(), made.ops.end(), [](const OpPair& pair) { return pair.base->name == "/op"; });
  EXPECT_EQ(found->change.verdict, ChangeVerdict::no_change);
}

TEST(CompareRunsTest, TooFewIterationsAreNotJudged) {
  const RunFigures base = run({op("/op", "a", times(10, kLeastValues - 1))});
  const RunFigures other = run({op("/op", "a", times(1000))});
  const OpPair pair = only(compare(base, other));
  EXPECT_EQ(pair.change.verdict, ChangeVerdict::untested);
  EXPECT_EQ(pair.change.p, std::nullopt);
  EXPECT_TRUE(pair.change.ratio);
}

TEST(CompareRunsTest, WithoutIterationsNothingIsJudged) {
  RunFigures base = run({op("/op", "a", times(10))});
  base.has_iterations = false;
  const RunFigures other = run({op("/op", "a", times(1000))});
  EXPECT_EQ(only(compare(base, other)).change.verdict, ChangeVerdict::untested);
  EXPECT_EQ(compare(base, other).iteration.verdict, ChangeVerdict::untested);
}

TEST(CompareRunsTest, ARunDoesNotDifferFromItself) {
  const RunFigures base = run({op("/op", "a", times(10))}, 4);
  const Comparison made = compare(base, base);
  EXPECT_EQ(only(made).change.verdict, ChangeVerdict::no_change);
  EXPECT_EQ(made.iteration.verdict, ChangeVerdict::no_change);
  EXPECT_EQ(only(made).scaling, Scaling::unknown);
  EXPECT_TRUE(only(made).same_kernels);
}

struct Scaled {
  double ratio;
  Scaling scaling;
};
class ScalingTest : public testing::TestWithParam<Scaled> {};

TEST_P(ScalingTest, GoesByTheExponent) {
  const RunFigures small = run({op("/op", "a", times(1000))}, 4);
  const RunFigures large = run({op("/op", "a", times(1000 * GetParam().ratio))}, 64);
  EXPECT_EQ(only(compare(small, large)).scaling, GetParam().scaling);
  EXPECT_EQ(only(compare(large, small)).scaling, GetParam().scaling);  // whichever comes first
}

INSTANTIATE_TEST_SUITE_P(CompareRuns, ScalingTest,
                         testing::Values(Scaled{0.5, Scaling::fixed}, Scaled{1, Scaling::fixed}, Scaled{1.31, Scaling::fixed},
                                         Scaled{1.33, Scaling::sublinear}, Scaled{12, Scaling::sublinear},
                                         Scaled{12.2, Scaling::linear}, Scaled{16, Scaling::linear}, Scaled{21, Scaling::linear},
                                         Scaled{21.2, Scaling::superlinear}));

TEST(CompareRunsTest, WithoutBatchSizesNothingScales) {
  const RunFigures base = run({op("/op", "a", times(10))}, 4);
  const RunFigures other = run({op("/op", "a", times(1000))});
  const Comparison made = compare(base, other);
  EXPECT_EQ(made.batch_ratio, std::nullopt);
  EXPECT_EQ(only(made).scaling, Scaling::unknown);
}

TEST(CompareRunsTest, AnOpWithoutTimeHasNoRatio) {
  const RunFigures base = run({op("/op", "a", std::vector<double>(kIterations, 0.0))}, 4);
  const RunFigures other = run({op("/op", "a", times(10))}, 8);
  const OpPair pair = only(compare(base, other));
  EXPECT_EQ(pair.change.ratio, std::nullopt);
  EXPECT_EQ(pair.exponent, std::nullopt);
  EXPECT_EQ(only(compare(other, base)).exponent, std::nullopt);  // 0 has no logarithm
}

TEST(CompareRunsTest, KernelsAreToldApartByTheirLongNames) {
  OpFigures variant = op("/op", "a", times(10));
  variant.kernels.front().long_name = "k<2>";
  EXPECT_FALSE(only(compare(run({op("/op", "a", times(10))}), run({variant}))).same_kernels);
}

TEST(CompareRunsTest, EachRunIsComparedWithTheFirst) {
  ComparedRuns all = compare_all({run({}, 4), run({}, 8), run({}, 16)});
  const ComparedRuns moved = std::move(all);
  ASSERT_THAT(moved.pairs, SizeIs(2));
  EXPECT_EQ(moved.pairs[1].base, &moved.runs[0]);
  EXPECT_EQ(moved.pairs[1].other, &moved.runs[2]);
  EXPECT_THAT(moved.pairs[1].batch_ratio, Optional(4.0));
  EXPECT_THAT(moved.pairs[1].ops, IsEmpty());
}

TEST(CompareRunsTest, LabelsAreMadeUnique) {
  EXPECT_THAT(unique_labels({"a", "b", "c"}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(unique_labels({"a", "a", "a (2)", "a"}), ElementsAre("a", "a (3)", "a (2)", "a (4)"));
}

}  // namespace
}  // namespace dlkprof::advise
