#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/fold/fold.h"

namespace dlkprof::model::repetition_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

using Positions = std::vector<std::size_t>;

// A letter is a launch configuration.
Positions find(std::string_view letters) {
  const std::vector<std::uint32_t> sequence(letters.begin(), letters.end());
  return find_repetition(sequence);
}

std::string times(int n, const std::string& text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

Positions every(std::size_t step, std::size_t first, std::size_t n) {
  Positions all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(first + i * step);
  return all;
}

TEST(FindRepetition, FindsALoop) { EXPECT_THAT(find("ABCABCABC"), ElementsAre(0, 3, 6)); }

TEST(FindRepetition, LeavesOutWarmUpAndTail) {
  EXPECT_THAT(find("wxyz" + times(20, "ABCDE") + "pqr"), ElementsAreArray(every(5, 4, 20)));
}

TEST(FindRepetition, AsksForThreeRepetitions) {
  EXPECT_THAT(find("ABCABC"), IsEmpty());
  EXPECT_THAT(find("ABCABCA"), IsEmpty());
  EXPECT_THAT(find("ABCABCABC"), SizeIs(3));
}

TEST(FindRepetition, FindsNothingWhereNothingRepeats) {
  EXPECT_THAT(find(""), IsEmpty());
  EXPECT_THAT(find("A"), IsEmpty());
  EXPECT_THAT(find("AA"), IsEmpty());
  EXPECT_THAT(find("ABCDEFGHIJKLMN"), IsEmpty());
}

TEST(FindRepetition, OneLaunchIsAnIterationOnlyWhereThereIsNothingElse) {
  EXPECT_THAT(find("AAAA"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(find("xAAAAAAAAAAAAAAAAAAAAA"), IsEmpty());
  EXPECT_THAT(find(times(10, "A") + times(10, "B")), IsEmpty());
}

TEST(FindRepetition, ALoopThatIsASmallPartOfTheProgramIsNone) {
  std::string unlike;
  for (char c = ' '; c < 127; ++c) unlike += c;
  EXPECT_THAT(find(unlike + times(3, "\x80\x81\x82") + unlike), IsEmpty());
}

TEST(FindRepetition, TakesTheStepNotTheLayer) {
  const std::string step = "E" + times(12, "abcd") + "H" + times(12, "dcba") + "O";
  EXPECT_THAT(find("init" + times(5, step)), ElementsAreArray(every(step.size(), 4, 5)));
}

TEST(FindRepetition, TakesThePassNotTheLayerInInference) {
  const std::string pass = "E" + times(80, "abcdefgh") + "NH";
  EXPECT_THAT(find("xyz" + times(3, pass)), ElementsAreArray(every(pass.size(), 3, 3)));
}

TEST(FindRepetition, FindsWhereALoopBeginsThatEndsWithWhatIsUniqueInIt) {
  EXPECT_THAT(find("wv" + times(8, "AAAB") + "pq"), ElementsAreArray(every(4, 2, 8)));
  EXPECT_THAT(find(times(8, "AAAB")), ElementsAreArray(every(4, 0, 8)));
}

TEST(FindRepetition, FindsALoopInWhichNothingIsUnique) { EXPECT_THAT(find("w" + times(9, "AABB") + "p"), SizeIs(9)); }

TEST(FindRepetition, ADifferentFirstIterationIsOne) {
  // The libraries try algorithms: X and Y.
  EXPECT_THAT(find("w" + std::string("AXXYBXXYCD") + times(6, "ABCD")), ElementsAreArray({1, 11, 15, 19, 23, 27, 31}));
}

TEST(FindRepetition, AFirstIterationInWhichTheOptimizerSetsUpIsOne) {
  const std::string steps = "ABCDEFGffffO" + times(9, "ABCDEFGO");
  EXPECT_THAT(find("wv" + steps), ElementsAre(2, 14, 22, 30, 38, 46, 54, 62, 70, 78));
  // Evaluation at the end, which begins as a step does.
  EXPECT_THAT(find("wv" + steps + times(2, "ABCDxyz")), ElementsAre(2, 14, 22, 30, 38, 46, 54, 62, 70, 78));
}

TEST(FindRepetition, TheAnchorInSetUpBeginsNoIteration) {
  EXPECT_THAT(find("AAxAAAyA" + times(6, "ABCDE")), ElementsAreArray(every(5, 8, 6)));
}

TEST(FindRepetition, ToleratesADifferentIteration) {
  const std::string sequence = times(4, "ABCDEFGH") + "ABCDELEFGH" + times(5, "ABCDEFGH");
  EXPECT_THAT(find(sequence), ElementsAreArray({0, 8, 16, 24, 32, 42, 50, 58, 66, 74}));
}

TEST(FindRepetition, AStepThatLogsNowAndThenIsStillAStep) {
  std::string step;
  for (char c = 0; c < 70; ++c) step += c;
  const Positions found = find(times(10, times(9, step) + step + "\x7f"));
  EXPECT_THAT(found, SizeIs(100));
}

TEST(FindRepetition, EvaluationBetweenStepsBelongsToTheOneBefore) {
  // Forward abc, backward CBA, optimizer o; evaluation is forward only.
  const std::string steps = times(20, "abcCBAo");
  const Positions found = find(steps + times(7, "abc") + steps);
  EXPECT_THAT(found, SizeIs(40));
  EXPECT_EQ(found[20], steps.size() + 21);
}

TEST(FindRepetition, AStepThatWasCutIsOne) {
  EXPECT_THAT(find("w" + times(5, "ABCDE") + "AB"), ElementsAreArray(every(5, 1, 6)));
}

TEST(FindRepetition, PositionsRiseAndLieWithinWhateverComes) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint32_t> sequence(random() % 60);
    for (std::uint32_t& config : sequence) config = random() % 4 == 0 ? 0xffffffffU : static_cast<std::uint32_t>(random() % 3);
    const Positions found = find_repetition(sequence);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_LT(found[i], sequence.size());
      ASSERT_TRUE(i == 0 || found[i - 1] < found[i]);
    }
  }
}

// Sequences on which looking at each pair of launches, or at each segment for each configuration, would take minutes.
TEST(FindRepetition, IsFastOnLongSequences) {
  constexpr std::size_t kLaunches = 200'000;
  std::vector<std::uint32_t> steps(kLaunches), distinct(kLaunches), pairs(kLaunches), blocks(kLaunches);
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    steps[i] = i % 1000;
    distinct[i] = ~i;
    pairs[i] = i % 2 == 0 ? 0 : i;
    blocks[i] = i % 7 == 0 ? i / 7 % 3 : i % 100'003;
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(find_repetition(steps), SizeIs(200));
  EXPECT_THAT(find_repetition(distinct), IsEmpty());
  EXPECT_THAT(find_repetition(pairs), IsEmpty());
  (void)find_repetition(blocks);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace dlkprof::model::repetition_test
