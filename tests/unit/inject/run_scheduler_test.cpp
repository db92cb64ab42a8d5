#include "inject/replay/run_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace dlkprof::inject {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Key = RunScheduler::Key;

// A program whose launches are letters, and what becomes of them: runs that were measured, and passes that were opened.
struct Simulation {
  Simulation(std::size_t all_passes, std::uint64_t all_samples, const RunScheduler::Settings& settings)
      : scheduler(settings), passes(all_passes), wanted_samples(all_samples) {}

  // Lower-case letters are wanted, others are launches that nobody selected.
  void launch(char letter) {
    const Key key = static_cast<unsigned char>(letter);
    const std::uint64_t wanted = letter >= 'a' ? wanted_samples : 0;
    auto before = scheduler.before(key, wanted);
    if (before == RunScheduler::Before::broken) {
      scheduler.forget_run();
      ++broken;
      before = scheduler.before(key, wanted);
    }
    if (before == RunScheduler::Before::wraps) {
      close();
      before = scheduler.before(key, wanted);
    }
    if (before == RunScheduler::Before::idle) return;
    if (before == RunScheduler::Before::open) {
      ++opened;
      window.clear();
    }
    window += letter;
    if (scheduler.ends_pass()) close();
  }
  void launch(const std::string& letters) {
    for (const char letter : letters) launch(letter);
  }
  void repeat(const std::string& letters, int times) {
    for (int i = 0; i < times; ++i) launch(letters);
  }
  void close() {
    if (scheduler.pass() + 1 < passes) return scheduler.end_pass();
    runs.push_back(window);
    scheduler.end_run();
  }
  [[nodiscard]] std::map<char, int> samples() const {
    std::map<char, int> counts;
    for (const std::string& run : runs) {
      for (const char letter : run) ++counts[letter];
    }
    return counts;
  }

  RunScheduler scheduler;
  std::size_t passes;
  std::uint64_t wanted_samples;
  std::string window;
  std::vector<std::string> runs;
  int opened = 0, broken = 0;
};

TEST(RunScheduler, OnePassMeasuresWhatComes) {
  Simulation program(1, 1, {.repeats = false, .most_launches = 100, .longest_gap = 3});
  program.launch("abcXYZUVW");
  EXPECT_THAT(program.runs, ElementsAre("abcXYZ"));
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  program.launch("abcXYZd");
  program.launch("XYZ");
  EXPECT_THAT(program.runs, ElementsAre("abcXYZ", "dXYZ"));
}

TEST(RunScheduler, ARunHasNoMoreLaunchesThanThereIsRoomFor) {
  Simulation program(1, 1, {.repeats = false, .most_launches = 4, .longest_gap = 3});
  program.launch("abcdefXYZ");
  EXPECT_THAT(program.runs, ElementsAre("abcd", "efXY"));
}

TEST(RunScheduler, PassesAreSpreadOverRepetitions) {
  Simulation program(3, 1, {.repeats = true, .most_launches = 100, .longest_gap = 4});
  program.repeat("abcdWXYZ", 2);  // what the first one comes behind will not come again
  EXPECT_EQ(program.opened, 0);
  program.repeat("abcdWXYZ", 3);
  EXPECT_THAT(program.runs, ElementsAre("abcdWXYZ"));
  EXPECT_EQ(program.opened, 3);
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  program.repeat("abcdWXYZ", 5);
  EXPECT_EQ(program.opened, 3);
  EXPECT_EQ(program.broken, 0);
}

TEST(RunScheduler, AllKeysGetAllTheirSamples) {
  for (const std::size_t passes : {1, 2, 15}) {
    Simulation program(passes, 3, {.repeats = passes > 1, .most_launches = 50, .longest_gap = 4});
    program.repeat("abacadaeWXafaga", 500);
    EXPECT_EQ(program.scheduler.incomplete(), 0U) << passes;
    for (const auto& [letter, count] : program.samples()) EXPECT_GE(count, 3) << passes << letter;
    EXPECT_EQ(program.samples().size(), 9U);
    EXPECT_EQ(program.scheduler.given_up(), 0U);
  }
}

// The same launches come in several places, of which only one is followed by what a pass expects.
TEST(RunScheduler, APlaceIsKnownByWhatCameBefore) {
  Simulation program(2, 1, {.repeats = true, .most_launches = 4, .longest_gap = 4});
  program.repeat("PQRSTUVWabcdKLMNOPQRSTUVabxyGHIJ", 20);
  EXPECT_EQ(program.broken, 0);
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
}

// One place where passes differ does not shorten the runs of others.
TEST(RunScheduler, ARunIsShortenedAtItsOwnPlace) {
  Simulation program(4, 1, {.repeats = true, .most_launches = 8, .longest_gap = 4});
  for (int i = 0; i < 40; ++i) {
    program.launch("PQRSTUVWa");
    program.launch(i % 2 == 0 ? 'b' : 'c');
    program.launch("ABCDEFGHstuvwx");
  }
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  EXPECT_THAT(program.runs, testing::Contains("stuvwxPQ"));
}

// Counters are taken away between two passes, again and again: that is no failure of the keys, and shortens nothing.
TEST(RunScheduler, ARunThatIsLostIsBegunAgain) {
  Simulation program(3, 1, {.repeats = true, .most_launches = 8, .longest_gap = 8});
  program.repeat("abcdefgh", 2);
  for (unsigned i = 0; i < 2 * RunScheduler::kMostFailures; ++i) {
    program.launch("abcdefgh");
    program.scheduler.lose_run();
  }
  EXPECT_EQ(program.scheduler.given_up(), 0U);
  program.repeat("abcdefgh", 4);
  EXPECT_THAT(program.runs, ElementsAre("abcdefgh"));
}

TEST(RunScheduler, OneSampleOfEachIsEnoughWhereAllAreWanted) {
  Simulation program(1, RunScheduler::kAll, {.repeats = false, .most_launches = 4, .longest_gap = 4});
  program.launch("abc");
  EXPECT_EQ(program.scheduler.incomplete(), 3U);
  program.launch("ab");
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  program.launch("abab");
  EXPECT_THAT(program.runs, ElementsAre("abca", "baba"));
}

TEST(RunScheduler, APassThatDiffersIsThrownAway) {
  Simulation program(2, 1, {.repeats = true, .most_launches = 8, .longest_gap = 8});
  program.launch("PQRSTUVWabcdefgh");
  program.launch("PQRSTUVWabcdefgh");  // the first pass
  program.launch("PQRSTUVWabcdXfgh");  // not the second; a run up to there begins right behind it
  EXPECT_EQ(program.broken, 1);
  EXPECT_THAT(program.runs, IsEmpty());
  program.repeat("PQRSTUVWabcdefgh", 10);
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  for (const std::string& run : program.runs) EXPECT_LE(run.size(), 8U);
}

TEST(RunScheduler, GivesUpWhatNeverRepeats) {
  Simulation program(2, 1, {.repeats = true, .most_launches = 8, .longest_gap = 8});
  unsigned state = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 1664525U + 1013904223U;  // Knuth, The Art of Computer Programming, 3.3.4, line 16
    program.launch(static_cast<char>('a' + (state >> 16U) % 26));
  }
  EXPECT_EQ(program.scheduler.incomplete(), 0U);
  EXPECT_EQ(program.scheduler.given_up(), 26U);
}

TEST(RunScheduler, WorkThatNoWindowHoldsEndsAFirstPassAndBreaksALaterOne) {
  Simulation program(2, 1, {.repeats = true, .most_launches = 100, .longest_gap = 100});
  program.repeat("PQRSTUVWabcd", 1);
  program.launch("PQRSTUVWab");
  EXPECT_TRUE(program.scheduler.cut());
  program.close();  // a run of two launches
  program.launch("cdPQRSTUVWa");
  EXPECT_FALSE(program.scheduler.cut());
  program.scheduler.forget_run();
  program.repeat("PQRSTUVWabcd", 5);
  EXPECT_THAT(program.runs, testing::Not(IsEmpty()));
}

TEST(RunScheduler, IsQuietOnceNothingNewComes) {
  Simulation program(1, 1, {.repeats = false, .most_launches = 8, .longest_gap = 1});
  program.launch("abW");
  program.repeat("abW", 100);
  EXPECT_EQ(program.scheduler.quiet_for(), 301U);
  program.launch("c");
  EXPECT_EQ(program.scheduler.quiet_for(), 0U);
}

}  // namespace
}  // namespace dlkprof::inject
