#include "model/timeline/pc_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "model/timeline/timeline.h"
#include "support/event_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::model::pc_samples_test {
namespace {

using capture::PcNamesRecord;
using capture::PcSamplesRecord;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t kPeriod = 1U << 17U;

class PcSamplesTest : public testing::Test {
 protected:
  static PcNamesRecord names() {
    return {.reasons = {{14, "long_scoreboard"}, {28, "selected"}},
            .functions = {{0, 77, "_Z5firstPf"}, {1, 77, "second"}},
            .files = {"/src/a.cu", "/src/b.cu"},
            .lines = {{0, 16, 1, 9}, {1, 0, 0, 4}}};
  }
  static PcSamplesRecord samples(std::vector<capture::PcCount> counts, std::uint32_t period = 17) {
    return {.device = 0,
            .period_log2 = period,
            .samples = 5,
            .foreign = 1,
            .dropped = 2,
            .overflows = 1,
            .counts = std::move(counts)};
  }
  // The captures, one after another.
  Timeline load(const std::vector<std::vector<capture::Record>>& captures) {
    std::vector<std::filesystem::path> paths;
    for (const auto& records : captures) {
      test::EventCapture capture;
      capture.before = records;
      const auto folder = folder_.path() / std::to_string(paths.size());
      std::filesystem::create_directories(folder);
      paths.push_back(test::write_capture(folder, capture.records()));
    }
    return load_timeline(paths);
  }
  static std::vector<std::string> words(const Timeline& timeline) {
    std::vector<std::string> all;
    for (const auto& notice : timeline.notices) all.push_back(notice.what);
    return all;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(PcSamplesTest, RecordsOfACaptureAddUp) {
  const Timeline timeline = load({{names(), samples({{0, 16, {{14, 3}, {28, 1}}}, {1, 0, {{28, 1}}}}),
                                   samples({{0, 0, {{28, 2}}}, {0, 16, {{14, 1}}}}, 18)}});
  const PcSamples& found = timeline.pc_samples;
  EXPECT_THAT(found.reasons, ElementsAre("long_scoreboard", "selected"));
  EXPECT_THAT(found.files, ElementsAre("", "/src/a.cu", "/src/b.cu"));
  ASSERT_THAT(found.functions, SizeIs(2));
  EXPECT_EQ(timeline.kernels[found.functions[0].kernel].name, "first");
  EXPECT_EQ(timeline.kernels[found.functions[1].kernel].mangled, "second");
  EXPECT_THAT(found.instructions, ElementsAre(PcInstruction{0, 0, 0, 0}, PcInstruction{0, 16, 2, 9}, PcInstruction{1, 0, 1, 4}));
  EXPECT_THAT(found.stalls, ElementsAre(PcStall{0, 1, 2, 4 * kPeriod}, PcStall{1, 0, 4, 5 * kPeriod}, PcStall{1, 1, 1, kPeriod},
                                        PcStall{2, 1, 1, kPeriod}))
      << "a sample of twice the period counts for twice the cycles";
  EXPECT_THAT(found.totals, ElementsAre(PcTotals{0, 0, 17, 18, 10, 2, 4, 2}));
  EXPECT_TRUE(words(timeline).empty());
}

TEST_F(PcSamplesTest, CapturesOfTheSameProgramAddUp) {
  const std::vector<capture::Record> one{names(), samples({{0, 16, {{14, 3}}}})};
  PcNamesRecord others = names();
  std::swap(others.functions[0].id, others.functions[1].id);
  others.lines.clear();
  const Timeline timeline = load({one, {others, samples({{1, 16, {{14, 4}}}})}});
  const PcSamples& found = timeline.pc_samples;
  EXPECT_THAT(found.functions, SizeIs(2));
  EXPECT_THAT(found.stalls, ElementsAre(PcStall{0, 0, 7, 7 * kPeriod}));
  ASSERT_THAT(found.totals, SizeIs(2));
  EXPECT_EQ(found.totals[1].process, 1U);
}

TEST_F(PcSamplesTest, WhatDoesNotFitTogetherIsLeftOutAndCounted) {
  PcNamesRecord broken;
  broken.lines = {{9, 0, 0, 1}, {0, 0, 5, 1}};
  const Timeline timeline =
      load({{names(), broken, samples({{7, 0, {{14, 1}}}, {0, 0, {{99, 1}, {14, 2}}}, {0, ~0ULL, {{14, 1}}}}),
             samples({{0, 0, {{14, 1}}}}, 4), samples({{0, 0, {{14, 1}}}}, 4000)}});
  EXPECT_THAT(timeline.pc_samples.stalls, ElementsAre(PcStall{0, 0, 2, 2 * kPeriod}));
  EXPECT_THAT(timeline.pc_samples.totals, SizeIs(1));
  EXPECT_THAT(words(timeline), Contains(HasSubstr("impossible period left out: 2")));
  EXPECT_THAT(words(timeline), Contains(HasSubstr("Samples of PC sampling that do not fit together left out: 3")));
  EXPECT_THAT(words(timeline), Contains(HasSubstr("Source lines of PC sampling that do not fit together left out: 2")));
}

TEST_F(PcSamplesTest, SumsOfHugeNumbersStayAtTheLargest) {
  PcSamplesRecord huge = samples({{0, 0, {{14, ~0ULL}, {14, ~0ULL}, {28, 1ULL << 50U}}}}, 31);
  huge.samples = huge.dropped = ~0ULL;
  const PcSamples found = load({{names(), huge, huge}}).pc_samples;
  EXPECT_THAT(found.stalls,
              ElementsAre(PcStall{0, 0, kMostPcSamples, kMostPcSamples}, PcStall{0, 1, 1ULL << 51U, kMostPcSamples}));
  EXPECT_EQ(found.totals[0].samples, kMostPcSamples);
  EXPECT_EQ(found.totals[0].dropped, kMostPcSamples);
}

TEST_F(PcSamplesTest, NamesOfAnyLengthAndBytesArePutRight) {
  PcNamesRecord record = names();
  record.reasons[0].name = std::string(1U << 20U, '\xff');
  record.functions[0].mangled_name = "_Z" + std::string(1U << 20U, '9');
  record.functions[1].mangled_name = "\xff";
  record.files[1] = std::string(1U << 20U, '\x80');
  const Timeline timeline = load({{record, samples({{0, 16, {{14, 1}}}, {1, 0, {{28, 1}}}})}});
  EXPECT_THAT(timeline.pc_samples.stalls, SizeIs(2));
  EXPECT_EQ(timeline.kernels[timeline.pc_samples.functions[1].kernel].mangled, "\xEF\xBF\xBD");
}

TEST_F(PcSamplesTest, NamesThatAreGivenAgainKeepTheirFirstMeaning) {
  PcNamesRecord again;
  again.reasons = {{14, "selected"}};
  again.functions = {{0, 1, "third"}};
  const Timeline timeline = load({{names(), again, samples({{0, 0, {{14, 1}}}})}});
  EXPECT_THAT(timeline.pc_samples.stalls, ElementsAre(PcStall{0, 0, 1, kPeriod}));
}

TEST_F(PcSamplesTest, MachineCodeBelongsToItsFunctions) {
  const PcNamesRecord more{.functions = {{2, 77, "third"}}};
  const Timeline timeline =
      load({{names(), more, samples({}), capture::PcCodeRecord{{1, 2}, 30, {1, 2}}},
            {names(), samples({}), capture::PcCodeRecord{{1}, 40, {3}}, capture::PcCodeRecord{{0}, 50, {4}}}});
  const PcSamples& found = timeline.pc_samples;
  EXPECT_THAT(found.codes, ElementsAre(PcCode{30, {1, 2}}, PcCode{50, {4}})) << "what two processes have is kept once";
  ASSERT_THAT(found.functions, SizeIs(3));
  EXPECT_EQ(found.functions[0].code, 1U);
  EXPECT_EQ(found.functions[1].code, 0U);
  EXPECT_EQ(found.functions[2].code, 0U);
  EXPECT_TRUE(words(timeline).empty());
}

TEST_F(PcSamplesTest, MachineCodeThatFitsNoFunctionIsLeftOut) {
  const Timeline timeline =
      load({{names(), samples({}), capture::PcCodeRecord{{9}, 30, {1}},
             capture::PcCodeRecord{{1}, capture::kMostCodeBytes + 1, {1}}, capture::PcCodeRecord{{}, 30, {1}}}});
  EXPECT_TRUE(timeline.pc_samples.codes.empty());
  EXPECT_EQ(timeline.pc_samples.functions[1].code, kNone);
  EXPECT_THAT(words(timeline), Contains(HasSubstr("Machine code that fits no function")));
}

TEST_F(PcSamplesTest, CountsOfInstructionsStandBesideSamples) {
  const capture::LaunchKey one{.device = 0, .function = 0, .grid = {1, 1, 1}, .block = {32, 1, 1}}, two{.grid = {2, 1, 1}};
  const std::vector<std::string> metrics{"executed", "threads"};
  const Timeline timeline = load({{names(), samples({{0, 16, {{14, 3}}}}),
                                   capture::SassCountsRecord{7, one, metrics, {{0, 32, {{0, 8}, {1, 256}}}, {0, 16, {{0, 9}}}}},
                                   capture::SassCountsRecord{8, two, metrics, {{0, 32, {{1, 64}}}}},
                                   capture::SassCountsRecord{9, one, metrics, {{0, 32, {{0, 100}}}, {0, 48, {{0, 1}}}}}}});
  const PcSamples& found = timeline.pc_samples;
  EXPECT_THAT(found.instructions, ElementsAre(PcInstruction{0, 16, 2, 9}, PcInstruction{0, 32, 0, 0}));
  EXPECT_THAT(found.stalls, ElementsAre(PcStall{0, 0, 3, 3 * kPeriod}));
  EXPECT_EQ(found.sass_metrics, metrics);
  ASSERT_THAT(found.counts, SizeIs(4)) << "a configuration has those of its first launch";
  const std::uint32_t first = found.counts[0].config, second = found.counts[3].config;
  EXPECT_NE(first, second);
  EXPECT_THAT(found.counts, ElementsAre(SassCount{0, first, 0, 9}, SassCount{1, first, 0, 8}, SassCount{1, first, 1, 256},
                                        SassCount{1, second, 1, 64}));
  EXPECT_TRUE(words(timeline).empty());
}

TEST_F(PcSamplesTest, CountsThatDoNotFitAreLeftOut) {
  const Timeline timeline = load({{names(), samples({}),
                                   capture::SassCountsRecord{7,
                                                             {},
                                                             {"executed"},
                                                             {{0, 16, {{0, ~0ULL}, {1, 5}}},  // a metric that is not named
                                                              {9, 16, {{0, 1}}},              // a function that is not
                                                              {0, kMostPcSamples + 1, {{0, 1}}}}}}});
  EXPECT_THAT(timeline.pc_samples.counts, ElementsAre(SassCount{0, 0, 0, kMostPcSamples}));
  EXPECT_THAT(words(timeline), Contains(HasSubstr("Counts of instructions that do not fit")));
}

}  // namespace
}  // namespace dlkprof::model::pc_samples_test
