#include "model/timeline/timeline.h"
#include "model/timeline/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "model/timeline/message.h"
#include "support/event_capture.h"
#include "support/temporary_directory.h"

namespace dlkprof::model::timeline_test {
namespace {

using capture::Record;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using test::range_id;

// What timeline.h promises of any timeline.
void expect_good_times(const Timeline& t, const auto& event) {
  EXPECT_LE(event.start_ns, event.end_ns);
  EXPECT_LE(t.first_ns, event.start_ns);
  EXPECT_LE(event.end_ns, t.last_ns);
}

void expect_good_ranges(const Timeline& t) {
  for (std::size_t i = 0; i < t.ranges.size(); ++i) {
    const Range& range = t.ranges[i];
    expect_good_times(t, range);
    EXPECT_TRUE(i == 0 || t.ranges[i - 1].start_ns <= range.start_ns);
    ASSERT_LT(range.thread, t.threads.size());
    ASSERT_LT(range.message, t.strings.size());
    ASSERT_LT(range.domain, t.strings.size());
    if (range.parent == kNone) continue;
    ASSERT_LT(range.parent, i);
    const Range& parent = t.ranges[range.parent];
    EXPECT_EQ(parent.thread, range.thread);
    EXPECT_TRUE(parent.start_ns <= range.start_ns && range.end_ns <= parent.end_ns);
  }
}

void expect_good_calls(const Timeline& t) {
  for (std::size_t i = 0; i < t.calls.size(); ++i) {
    const Call& call = t.calls[i];
    expect_good_times(t, call);
    EXPECT_TRUE(i == 0 || t.calls[i - 1].start_ns <= call.start_ns);
    ASSERT_LT(call.thread, t.threads.size());
    ASSERT_LT(call.name, t.strings.size());
    if (call.range == kNone) continue;
    ASSERT_LT(call.range, t.ranges.size());
    const Range& range = t.ranges[call.range];
    EXPECT_EQ(range.thread, call.thread);
    EXPECT_TRUE(range.start_ns <= call.start_ns && call.start_ns <= range.end_ns);
  }
}

void expect_good_activities(const Timeline& t) {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Activity& activity : t.activities) {
    ASSERT_LT(activity.kernel, t.kernels.size());
    ASSERT_LT(activity.device, t.devices.size());
    ASSERT_TRUE(activity.call == kNone || activity.call < t.calls.size());
    ASSERT_TRUE(activity.config == kNone || activity.config < t.configs.size());
    EXPECT_EQ(activity.config != kNone, t.kernels[activity.kernel].kind == capture::ActivityKind::kernel);
    std::int64_t place = activity.call == kNone ? 0 : t.calls[activity.call].start_ns;
    if (activity.end_ns != 0) {
      expect_good_times(t, activity);
      place = activity.start_ns;
    }
    EXPECT_LE(last, place);
    last = place;
  }
}

void expect_promises(const Timeline& t) {
  ASSERT_FALSE(t.strings.empty());
  EXPECT_EQ(t.strings[0], "");
  for (const std::string& text : t.strings) EXPECT_EQ(text, valid_utf8(text));
  for (const Thread& thread : t.threads) EXPECT_LT(thread.process, t.processes.size());
  for (const Config& config : t.configs) EXPECT_LT(config.process, t.processes.size());
  for (const auto& [config, values] : t.measured) EXPECT_LT(config, t.configs.size());
  expect_good_ranges(t);
  expect_good_calls(t);
  expect_good_activities(t);
}

class LoadTimeline : public testing::Test {
 protected:
  std::filesystem::path write(const std::vector<Record>& records) {
    return test::write_capture(folder_.path(), records, "capture" + std::to_string(++captures_));
  }
  Timeline load(const std::vector<std::filesystem::path>& paths) {
    Timeline timeline = load_timeline(paths);
    expect_promises(timeline);
    return timeline;
  }
  Timeline load(const test::EventCapture& capture) { return load({write(capture.records())}); }

  test::TemporaryDirectory folder_;
  int captures_ = 0;
};

std::vector<std::string> words(const Timeline& timeline) {
  std::vector<std::string> all;
  for (const capture::NoticeRecord& notice : timeline.notices) all.push_back(notice.what + " " + notice.detail);
  return all;
}
std::vector<std::string> messages(const Timeline& timeline) {
  std::vector<std::string> all;
  for (const Range& range : timeline.ranges) all.push_back(timeline.strings[range.message]);
  return all;
}
std::vector<std::uint32_t> parents(const Timeline& timeline) {
  std::vector<std::uint32_t> all;
  for (const Range& range : timeline.ranges) all.push_back(range.parent);
  return all;
}

// Ranges net > conv > cudnn, a launch in the innermost, and its kernel.
test::EventCapture small_capture() {
  test::EventCapture capture;
  capture.before = {test::function(1, test::kTiledGemm), test::function(2, test::kSimpleGemm)};
  capture.range(range_id(2), range_id(1), 120, 180, "cudnn");
  capture.range(range_id(1), range_id(0), 110, 190, "conv");
  capture.range(range_id(0), 0, 100, 200, "net");
  capture::CallEvent& call = capture.call(31, range_id(2), 130, 140);
  call.launch_index = 5;
  call.function = 2;
  capture.activity(31, 150, 450);
  return capture;
}

TEST_F(LoadTimeline, JoinsRangesCallsAndWork) {
  const Timeline t = load(small_capture());
  EXPECT_THAT(words(t), IsEmpty());
  EXPECT_THAT(messages(t), ElementsAre("net", "conv", "cudnn"));
  EXPECT_THAT(parents(t), ElementsAre(kNone, 0, 1));
  ASSERT_THAT(t.calls, SizeIs(1));
  EXPECT_EQ(t.calls[0].range, 2U);
  EXPECT_EQ(t.strings[t.calls[0].name], "cuLaunchKernel");
  ASSERT_THAT(t.activities, SizeIs(1));
  const Activity& activity = t.activities[0];
  EXPECT_EQ(activity.call, 0U);
  EXPECT_EQ(activity.launch_index, 5U);
  EXPECT_EQ(activity.stream, 7U);
  EXPECT_FALSE(activity.in_graph);
  EXPECT_EQ(t.kernels[activity.kernel].name, "gemm_simple");
  EXPECT_EQ(t.configs[activity.config].key, test::key(2, {8, 8, 1}, {16, 16, 1}));
  EXPECT_EQ(t.devices[activity.device].record.name, "NVIDIA H200");
  EXPECT_THAT(t.threads, ElementsAre(Thread{.process = 0, .tid = 100}));
  EXPECT_EQ(t.processes.at(0).record.pid, 4242U);
  EXPECT_EQ(t.processes.at(0).clock.monotonic_ns, 1'000);
  EXPECT_EQ(t.first_ns, 100);
  EXPECT_EQ(t.last_ns, 450);
}

TEST_F(LoadTimeline, ManyRangesKeepTheirParents) {
  test::EventCapture capture;
  for (std::uint32_t thread = 1; thread <= 3; ++thread) {
    for (std::uint64_t i = 0; i < 500; ++i) {
      const auto start = static_cast<std::int64_t>(1'000 * i + thread);
      capture.range(range_id(2 * i + 1, thread), range_id(2 * i, thread), start + 1, start + 2).thread = 100 + thread;
      capture.range(range_id(2 * i, thread), 0, start, start + 500).thread = 100 + thread;
    }
  }
  const Timeline t = load(capture);
  EXPECT_THAT(words(t), IsEmpty());
  ASSERT_THAT(t.ranges, SizeIs(3'000));
  for (const Range& range : t.ranges) {
    const bool inner = range.end_ns - range.start_ns == 1;
    EXPECT_EQ(range.parent != kNone, inner);
    EXPECT_TRUE(!inner || t.ranges[range.parent].start_ns == range.start_ns - 1);
  }
}

TEST_F(LoadTimeline, TheOuterOfTwoRangesOfTheSameTimesComesFirst) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 100, "outer");
  capture.range(range_id(1), range_id(0), 100, 100, "inner");
  EXPECT_THAT(parents(load(capture)), ElementsAre(kNone, 0));
  std::swap(capture.ranges[0], capture.ranges[1]);
  const Timeline t = load(capture);
  EXPECT_THAT(messages(t), ElementsAre("outer", "inner"));
  EXPECT_THAT(parents(t), ElementsAre(kNone, 0));
}

TEST_F(LoadTimeline, AMarkHasNoLengthAndDomainsHaveNames) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 0, "mark").kind = capture::RangeKind::mark;
  capture.range(range_id(1), 0, 200, 300, "thunk").domain = capture.text("TSL");
  const Timeline t = load(capture);
  EXPECT_EQ(t.ranges[0].end_ns, 100);
  EXPECT_TRUE(t.ranges[0].closed);
  EXPECT_EQ(t.ranges[0].domain, 0U);
  EXPECT_EQ(t.strings[t.ranges[1].domain], "TSL");
}

TEST_F(LoadTimeline, MessagesKeepTheirNumbers) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 200, "a, seq = , op_id = ").sequence = 1;
  capture.ranges.back().op_id = 2;
  capture.range(range_id(1), 0, 300, 400, "a, seq = 3, op_id = 4");
  const Timeline t = load(capture);
  EXPECT_EQ(message_of(t, t.ranges[0]), "a, seq = 1, op_id = 2");
  EXPECT_EQ(message_of(t, t.ranges[1]), "a, seq = 3, op_id = 4") << "that stayed whole";
}

TEST_F(LoadTimeline, WhatWasNeverEndedEndsWithTheLastEventOfItsThread) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 0, "open");
  capture.range(range_id(1), range_id(0), 110, 150, "closed");
  capture.call(1, range_id(0), 160, 170);
  // The system gave the thread's number to another one.
  capture.range(range_id(0, 2), 0, 5'000, 6'000, "later thread");
  const Timeline t = load(capture);
  EXPECT_THAT(words(t), IsEmpty());
  EXPECT_EQ(t.ranges[0].end_ns, 170);
  EXPECT_FALSE(t.ranges[0].closed);
  EXPECT_TRUE(t.ranges[1].closed);
  EXPECT_THAT(parents(t), ElementsAre(kNone, 0, kNone));
  EXPECT_EQ(t.calls[0].range, 0U);
  EXPECT_THAT(t.threads, SizeIs(1));
}

TEST_F(LoadTimeline, RangesInsideOneThatIsMissingStandByThemselves) {
  test::EventCapture capture;
  capture.range(range_id(1), range_id(0), 110, 150);
  capture.call(1, range_id(0), 160, 170);
  capture.call(2, range_id(7), 180, 190);
  const Timeline t = load(capture);
  EXPECT_THAT(parents(t), ElementsAre(kNone));
  EXPECT_EQ(t.calls[0].range, kNone);
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("calls outside of ranges: 2"), HasSubstr("themselves: 1")));
}

TEST_F(LoadTimeline, BreaksCycles) {
  test::EventCapture capture;
  capture.range(range_id(0), range_id(2), 100, 200);
  capture.range(range_id(1), range_id(0), 100, 200);
  capture.range(range_id(2), range_id(1), 100, 200);
  capture.range(range_id(3), range_id(3), 100, 200);
  const Timeline t = load(capture);
  EXPECT_THAT(parents(t), ElementsAre(kNone, 0, 1, kNone));
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("began later or elsewhere, taken for ranges by themselves: 2")));
}

TEST_F(LoadTimeline, ARangeThatOutlastsTheOneAroundItMovesOut) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 500, "step");
  capture.range(range_id(1), range_id(0), 110, 200, "net");
  capture.range(range_id(2), range_id(1), 120, 300, "longer").kind = capture::RangeKind::start_end;
  capture.range(range_id(3), range_id(1), 130, 900, "longest").kind = capture::RangeKind::start_end;
  const Timeline t = load(capture);
  EXPECT_THAT(parents(t), ElementsAre(kNone, 0, 0, kNone));
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("taken out of it: 2")));
}

TEST_F(LoadTimeline, RangesAndCallsLieInRangesOfTheirOwnThreadOnly) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 500);
  capture.range(range_id(0, 2), range_id(0), 110, 200).thread = 101;
  capture.call(1, range_id(0), 120, 130).thread = 101;
  capture.call(2, range_id(0), 501, 502);
  capture.call(3, range_id(0), 500, 502);
  const Timeline t = load(capture);
  EXPECT_THAT(parents(t), ElementsAre(kNone, kNone));
  EXPECT_EQ(t.calls[0].range, kNone);
  EXPECT_EQ(t.calls[1].range, 0U);
  EXPECT_EQ(t.calls[2].range, kNone);
  EXPECT_THAT(words(t), SizeIs(2));
}

TEST_F(LoadTimeline, StraightensTimesThatRunBackwards) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 200, 100);
  capture.call(1, 0, 300, 250);
  capture.activity(1, 400, 350);
  capture.activity(1, 0, 350);
  const Timeline t = load(capture);
  EXPECT_EQ(t.ranges[0].end_ns, 200);
  EXPECT_EQ(t.calls[0].end_ns, 300);
  for (const Activity& activity : t.activities) EXPECT_EQ(activity.end_ns, 0);
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("CUDA calls"), HasSubstr("not timed: 2"), HasSubstr("Ranges")));
}

TEST_F(LoadTimeline, LeavesOutImpossibleTimes) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, -1, 100);
  capture.range(range_id(1), 0, 100, std::numeric_limits<std::int64_t>::max());
  capture.call(1, 0, std::numeric_limits<std::int64_t>::min(), 5);
  capture.activity(1, 5, std::numeric_limits<std::int64_t>::max());
  capture.range(range_id(2), 0, 100, 200, "possible");
  const Timeline t = load(capture);
  EXPECT_THAT(messages(t), ElementsAre("possible"));
  EXPECT_THAT(t.calls, IsEmpty());
  EXPECT_THAT(t.activities, IsEmpty());
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("impossible times left out: 4")));
}

TEST_F(LoadTimeline, OfTheSameNumberTheFirstCounts) {
  test::EventCapture capture = small_capture();
  capture.range(range_id(1), 0, 100, 200, "again");
  capture.call(31, 0, 135, 136);
  capture.strings.push_back({1, "another text"});
  capture.before.emplace_back(test::function(2, test::kRelu));
  capture.devices.push_back(test::h200());
  capture.devices.back().name = "another GPU";
  const Timeline t = load(capture);
  EXPECT_THAT(messages(t), ElementsAre("net", "conv", "cudnn"));
  EXPECT_EQ(t.activities[0].call, 0U);
  EXPECT_THAT(t.calls, SizeIs(2));
  EXPECT_EQ(t.kernels[t.activities[0].kernel].name, "gemm_simple");
  EXPECT_EQ(t.devices[t.activities[0].device].record.name, "NVIDIA H200");
  EXPECT_THAT(words(t), SizeIs(5));
}

TEST_F(LoadTimeline, TextIsValidAndMissingTextEmpty) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 200, "a\xff\xfe z").domain = 4'000'000'000U;
  capture.range(range_id(1), 0, 100, 200).name = 77;
  capture.range(range_id(2), 0, 100, 200, std::string(1U << 20U, 'x'));
  capture.before.emplace_back(capture::FactsRecord{{{"py\xc3", "x\x80", "\xf0\x28"}}});
  capture.process.host = "\xff";
  capture.activity(1, 300, 400, "\xc0\xaf");
  const Timeline t = load(capture);
  EXPECT_THAT(messages(t), ElementsAre("a\xef\xbf\xbd\xef\xbf\xbd z", "", SizeIs(1U << 20U)));
  EXPECT_EQ(t.ranges[0].domain, 0U);
  EXPECT_EQ(t.facts.at(0).source, "py\xef\xbf\xbd");
  EXPECT_EQ(t.processes[0].record.host, "\xef\xbf\xbd");
  EXPECT_EQ(t.kernels[t.activities[0].kernel].mangled, "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_THAT(words(t), Contains(HasSubstr("left empty: 2")));
}

TEST_F(LoadTimeline, NamesCopiesAndSets) {
  test::EventCapture capture;
  for (const int kind : {1, 8, 0, 200}) {
    capture::ActivityEvent& copy = capture.activity(1, 100 + kind, 400);
    copy.kind = capture::ActivityKind::copy;
    copy.copy = static_cast<capture::CopyKind>(kind);
    copy.bytes = 4'096;
  }
  capture.activity(1, 390, 400).kind = capture::ActivityKind::set;
  const Timeline t = load(capture);
  std::vector<std::string> names;
  for (const Activity& activity : t.activities) names.push_back(t.kernels[activity.kernel].name);
  EXPECT_THAT(names, ElementsAre("[CUDA memcpy]", "[CUDA memcpy HtoD]", "[CUDA memcpy DtoD]", "[CUDA memcpy]", "[CUDA memset]"));
  EXPECT_EQ(t.activities[1].bytes, 4'096U);
  EXPECT_EQ(t.activities[0].kernel, t.activities[3].kernel);
  EXPECT_THAT(t.configs, IsEmpty());
}

TEST_F(LoadTimeline, FunctionsOfTheSameNameAreOneKernel) {
  test::EventCapture capture;
  capture.before = {test::function(1, test::kTiledGemm), test::function(2, test::kTiledGemm)};
  for (const std::uint32_t function : {1U, 2U}) {
    capture.call(function, 0, 100 + function, 110).function = function;
    capture.activity(function, 200 + function, 210, test::kTiledGemm);
  }
  const Timeline t = load(capture);
  ASSERT_THAT(t.kernels, SizeIs(1));
  EXPECT_EQ(t.kernels[0].name, "gemm_tiled");
  EXPECT_EQ(t.kernels[0].mangled, test::kTiledGemm);
  EXPECT_THAT(t.kernels[0].long_name, HasSubstr("lab::gemm_tiled<float, 128>"));
  EXPECT_EQ(t.configs.at(t.activities[0].config).key.function, 1U);
  EXPECT_EQ(t.configs.at(t.activities[1].config).key.function, 2U);
}

TEST_F(LoadTimeline, KeepsWhatTheDriverSaysOfFunctions) {
  test::EventCapture capture;
  capture.before = {test::function(5, test::kTiledGemm, 64), test::function(2, test::kRelu, 16),
                    test::function(5, test::kRelu, 99)};
  const Timeline timeline = load(capture);
  ASSERT_THAT(timeline.functions, SizeIs(2));
  EXPECT_EQ(timeline.functions[0].record.id, 2U);
  const capture::FunctionRecord* gemm = function_of(timeline, {0, test::key(5, {1, 1, 1}, {32, 1, 1})});
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->registers_per_thread, 64U);
  EXPECT_EQ(function_of(timeline, {0, test::key(3, {1, 1, 1}, {32, 1, 1})}), nullptr);
  EXPECT_EQ(function_of(timeline, {1, test::key(5, {1, 1, 1}, {32, 1, 1})}), nullptr);
}

TEST_F(LoadTimeline, AGraphLaunchHasManyKernels) {
  test::EventCapture capture;
  capture.before = {test::function(1, test::kSimpleGemm)};
  capture.call(9, 0, 100, 110);
  for (int i = 0; i < 3; ++i) {
    capture.activity(9, 200 + i, 210 + i, i == 0 ? test::kSimpleGemm : i == 1 ? test::kRelu : test::kCutlass).graph_node = 5;
  }
  const Timeline t = load(capture);
  for (const Activity& activity : t.activities) {
    EXPECT_EQ(activity.call, 0U);
    EXPECT_TRUE(activity.in_graph);
    EXPECT_EQ(activity.launch_index, capture::kNoLaunch);
  }
  EXPECT_EQ(t.configs.at(t.activities[0].config).key.function, 1U);  // the only function of this name
  EXPECT_EQ(t.configs.at(t.activities[1].config).key.function, 0U);
  EXPECT_NE(t.activities[1].config, t.activities[2].config);  // of different kernels
}

TEST_F(LoadTimeline, ACopyEndsWhereTheNextCallsWorkBeginsOnItsStream) {
  test::EventCapture capture;
  for (std::uint32_t i = 0; i < 3; ++i) capture.call(i, 0, 100 * i + 10, 100 * i + 20);
  const auto copy = [&](std::uint32_t number, std::int64_t start, std::int64_t end) -> capture::ActivityEvent& {
    capture::ActivityEvent& activity = capture.activity(number, start, end);
    activity.kind = capture::ActivityKind::copy;
    return activity;
  };
  copy(0, 30, 5000).graph_node = 3;
  capture.activity(0, 60, 80, test::kRelu).graph_node = 4;  // of the same call: may run beside it
  copy(1, 130, 5000).stream = 99;                           // alone on its stream
  capture.activity(1, 140, 260, test::kRelu);               // kernels may overlap
  capture.activity(2, 230, 240, test::kRelu);
  const Timeline t = load(capture);
  std::vector<std::int64_t> ends;
  for (const Activity& activity : t.activities) ends.push_back(activity.end_ns);
  EXPECT_THAT(ends, UnorderedElementsAre(140, 80, 5000, 260, 240));
  EXPECT_THAT(words(t), Contains(HasSubstr("beyond the next work of their stream")));
}

TEST_F(LoadTimeline, WorkWithoutCallOrDescriptionIsKept) {
  test::EventCapture capture;
  capture.devices = {};
  capture.activity(1, 100, 200, test::kRelu);
  capture.activity(2, 150, 250).name = 0;
  capture.call(3, 0, 10, 20).function = 99;
  capture.activity(3, 160, 260, test::kRelu).device = 8;
  const Timeline t = load(capture);
  EXPECT_EQ(t.activities[0].call, kNone);
  EXPECT_EQ(t.kernels[t.activities[1].kernel].name, "unknown");
  EXPECT_EQ(t.activities[0].kernel, t.activities[2].kernel);
  EXPECT_EQ(t.devices.at(t.activities[2].device).record.name, "unknown");
  EXPECT_THAT(t.devices, SizeIs(1));
  EXPECT_THAT(words(t), SizeIs(3));
}

// Two launches of which the second is measured while the first is still running, and a third. The profiler holds the program
// from 200 to 1'000'000; the first kernel ends at 260.
test::EventCapture held_capture() {
  test::EventCapture capture;
  capture.before = {test::function(2, test::kSimpleGemm), capture::MetricSetRecord{1, 0, 10, {"gpu__time_duration.sum"}, {}}};
  capture::LaunchRecord launch = test::sample_launch(1, test::key(2, {8, 8, 1}, {16, 16, 1}), 0, 0);
  launch.values = {70};
  capture.before.emplace_back(launch);
  capture.range(range_id(0), 0, 100, 1'000'500, "step");
  capture.range(range_id(0, 2), 0, 500'000, 1'000'100, "elsewhere").thread = 101;
  const auto call = [&](std::uint32_t number, std::int64_t start, std::int64_t end) -> capture::CallEvent& {
    capture::CallEvent& event = capture.call(number, range_id(0), start, end);
    event.launch_index = number;
    event.function = 2;
    return event;
  };
  call(0, 150, 160);
  call(1, 200, 1'000'000).held = true;
  call(2, 1'000'050, 1'000'060);
  capture.activity(0, 170, 260);
  capture.activity(2, 1'000'070, 1'000'080);
  return capture;
}

TEST_F(LoadTimeline, CutsOutWhatTheProfilerHeldTheProgramFor) {
  const Timeline t = load(held_capture());
  EXPECT_THAT(words(t), IsEmpty());
  EXPECT_EQ(t.processes[0].held_ns, 1'000'000 - 260 - 70);
  ASSERT_THAT(t.activities, SizeIs(3));
  EXPECT_EQ(t.activities[0].start_ns, 170);  // ends as it did
  EXPECT_EQ(t.activities[0].end_ns, 260);
  EXPECT_EQ(t.activities[1].start_ns, 260);  // measured: begins when the GPU is free, and lasts as its counter says
  EXPECT_EQ(t.activities[1].end_ns, 330);
  EXPECT_TRUE(t.activities[1].replayed);
  EXPECT_EQ(t.activities[1].launch_index, 1U);
  EXPECT_EQ(t.activities[1].config, t.activities[0].config);
  EXPECT_EQ(t.calls[1].start_ns, 200);
  EXPECT_EQ(t.calls[1].end_ns, 330);
  EXPECT_EQ(t.calls[2].start_ns, 380);
  EXPECT_EQ(t.activities[2].start_ns, 400);
  EXPECT_EQ(t.activities[2].end_ns, 410);
  EXPECT_EQ(t.ranges[0].end_ns, 830);
  EXPECT_EQ(t.ranges[1].start_ns, 330);  // began while the program was held
  EXPECT_EQ(t.ranges[1].end_ns, 430);
}

TEST_F(LoadTimeline, AMeasuredLaunchThatIsToldOfWithoutTimesIsThereOnce) {
  test::EventCapture capture = held_capture();
  capture.activity(1, 0, 0);  // as CUPTI tells of a launch that was being profiled
  const Timeline t = load(capture);
  EXPECT_THAT(words(t), IsEmpty());
  ASSERT_THAT(t.activities, SizeIs(3));
  EXPECT_EQ(t.activities[1].start_ns, 260);
  EXPECT_EQ(t.activities[1].end_ns, 330);
  EXPECT_TRUE(t.activities[1].replayed);
  EXPECT_EQ(t.processes[0].held_ns, 1'000'000 - 260 - 70);
}

TEST_F(LoadTimeline, AMeasuredLaunchOfUnknownLengthLastsAsOthersOfItsConfiguration) {
  test::EventCapture capture = held_capture();
  std::get<capture::MetricSetRecord>(capture.before[1]).metrics = {"sm__warps_active.avg"};
  const Timeline t = load(capture);
  ASSERT_THAT(t.activities, SizeIs(3));
  EXPECT_EQ(t.activities[1].start_ns, 260);
  EXPECT_EQ(t.activities[1].end_ns, 310) << "the mean of 90 and 10";
  EXPECT_TRUE(t.activities[1].estimated);
  EXPECT_FALSE(t.activities[0].estimated || t.activities[2].estimated);
  EXPECT_EQ(t.processes[0].held_ns, 1'000'000 - 260 - 50);
}

TEST_F(LoadTimeline, AMeasuredLaunchOfUnknownLengthWithoutOthersIsNotTimed) {
  test::EventCapture capture = held_capture();
  std::get<capture::MetricSetRecord>(capture.before[1]).metrics = {"sm__warps_active.avg"};
  std::get<capture::LaunchRecord>(capture.before[2]).key.grid = {1, 1, 1};
  const Timeline t = load(capture);
  ASSERT_THAT(t.activities, SizeIs(3));
  EXPECT_EQ(t.activities[1].end_ns, 0);
  EXPECT_FALSE(t.activities[1].replayed);
  EXPECT_EQ(t.processes[0].held_ns, 1'000'000 - 260);
}

TEST_F(LoadTimeline, ALaunchThatWasHeldAndCouldNotBeMeasuredKeepsItsOwnTime) {
  test::EventCapture capture = held_capture();
  capture.before.pop_back();
  capture.activity(1, 999'900, 999'990);
  const Timeline t = load(capture);
  ASSERT_THAT(t.activities, SizeIs(3));
  EXPECT_EQ(t.activities[1].end_ns - t.activities[1].start_ns, 90);
  EXPECT_FALSE(t.activities[1].replayed);
  EXPECT_EQ(t.processes[0].held_ns, 1'000'000 - 260 - 90);
}

TEST_F(LoadTimeline, AThreadThatWaitedForAnothersMeasuringIsCutOnce) {
  test::EventCapture capture = held_capture();
  capture::CallEvent& waiting = capture.call(3, 0, 400'000, 2'000'000);
  waiting.thread = 101;
  waiting.held = true;
  const Timeline t = load(capture);
  // The second hold counts from the end of the first, and the third launch ran meanwhile.
  EXPECT_EQ(t.processes[0].held_ns, 2'000'000 - 260 - 70 - 10);
  for (const Activity& activity : t.activities)
    EXPECT_TRUE(activity.replayed || activity.end_ns - activity.start_ns == (activity.launch_index == 0 ? 90 : 10));
}

// A step on either side of a time without CUPTI, and one that was going on when it left; within it a whole one and an end.
test::EventCapture absent_capture() {
  test::EventCapture capture;
  capture.before = {capture::AbsenceRecord{10'000, 1'010'000}};
  capture.range(range_id(0), 0, 1'000, 9'000, "first");
  capture.range(range_id(1), 0, 9'500, 500'000, "leaving");
  capture.range(range_id(2), 0, 600'000, 700'000, "unseen");
  capture.range(range_id(3), range_id(2), 650'000, 660'000, "unseen");
  capture.range(range_id(4), 0, 1'000'000, 1'020'000, "coming");
  capture.range(range_id(5), range_id(4), 1'012'000, 1'013'000, "last");
  capture.call(1, range_id(0), 2'000, 3'000);
  capture.call(2, range_id(5), 1'012'100, 1'012'200);
  capture.activity(1, 4'000, 5'000);
  capture.activity(2, 1'012'300, 1'014'300);
  return capture;
}

TEST_F(LoadTimeline, CutsOutTimesWithoutCupti) {
  const Timeline t = load(absent_capture());
  EXPECT_THAT(words(t), IsEmpty());
  ASSERT_THAT(t.ranges, SizeIs(4));  // those within the absence are gone
  EXPECT_EQ(t.ranges[1].start_ns, 9'500);
  EXPECT_EQ(t.ranges[1].end_ns, 10'000);
  EXPECT_EQ(t.ranges[2].start_ns, 10'000);
  EXPECT_EQ(t.ranges[2].end_ns, 20'000);
  EXPECT_EQ(t.ranges[3].parent, 2U);
  EXPECT_EQ(t.strings[t.ranges[3].message], "last");
  EXPECT_EQ(t.calls[1].range, 3U);
  EXPECT_EQ(t.calls[1].start_ns, 12'100);
  EXPECT_EQ(t.activities[0].end_ns, 5'000);
  EXPECT_EQ(t.activities[1].start_ns, 12'300);
  EXPECT_EQ(t.activities[1].end_ns, 14'300);
  EXPECT_EQ(t.last_ns, 20'000);
}

TEST_F(LoadTimeline, CutsOutWhatWasHeldBeforeCuptiLeft) {
  test::EventCapture capture = absent_capture();
  capture.call(3, 0, 5'000, 8'000).held = true;
  const Timeline t = load(capture);
  EXPECT_EQ(t.processes[0].held_ns, 3'000);
  EXPECT_EQ(t.activities.back().start_ns, 9'300);
  EXPECT_EQ(t.activities.back().end_ns, 11'300);
}

TEST_F(LoadTimeline, ATimeWithoutCuptiEndsWhenThatIsTold) {
  test::EventCapture capture = absent_capture();
  capture.before.insert(capture.before.begin(), capture::AbsenceRecord{10'000, 0});
  EXPECT_EQ(load(capture).last_ns, 20'000);
}

TEST_F(LoadTimeline, AProgramThatWasKilledWithoutCuptiEndsWhereItLeft) {
  test::EventCapture capture;
  capture.before = {capture::AbsenceRecord{10'000, 0}};
  capture.range(range_id(0), 0, 1'000, 9'000, "first");
  capture.range(range_id(1), 0, 9'500, 500'000, "leaving");
  capture.range(range_id(2), 0, 600'000, 700'000, "unseen");
  capture.call(1, range_id(0), 2'000, 3'000);
  capture.activity(1, 4'000, 5'000);
  const Timeline t = load(capture);
  EXPECT_THAT(words(t), IsEmpty());
  ASSERT_THAT(t.ranges, SizeIs(2));
  EXPECT_EQ(t.last_ns, 10'000);
}

TEST_F(LoadTimeline, ImpossibleTimesWithoutCuptiAreLeftOut) {
  test::EventCapture capture = absent_capture();
  capture.before.emplace_back(capture::AbsenceRecord{5, 4});
  capture.before.emplace_back(capture::AbsenceRecord{-5, 4});
  capture.before.emplace_back(capture::AbsenceRecord{2'000, 500'000});  // within the one before
  const Timeline t = load(capture);
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("Impossible times without CUPTI left out: 2")));
  EXPECT_EQ(t.last_ns, 20'000);
}

TEST_F(LoadTimeline, BoundsHowFarClocksMayBeOff) {
  test::EventCapture capture;
  capture.call(1, 0, 100, 110);
  capture.activity(1, 105, 200);
  capture.call(2, 0, 120, 130);
  capture.activity(2, 210, 300);
  capture.call(3, 0, 140, 312).name = capture.text("cuStreamSynchronize");
  Timeline t = load(capture);
  EXPECT_EQ(t.processes[0].gpu_late_ns, 5);
  EXPECT_EQ(t.processes[0].gpu_early_ns, 12);
  capture.activities[1].stream = 8;  // then the wait may have been for the other stream
  t = load(capture);
  EXPECT_EQ(t.processes[0].gpu_early_ns, -1);
  capture.calls[2].name = capture.text("cuCtxSynchronize");
  capture.activities[1].end_ns = 400;
  t = load(capture);
  EXPECT_EQ(t.processes[0].gpu_early_ns, 0);
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("contradict")));
}

// Launch 5 of small_capture() was measured, and launch 6 not.
TEST_F(LoadTimeline, JoinsWhatWasMeasuredByConfiguration) {
  test::EventCapture capture = small_capture();
  capture.activities[0].start_ns = capture.activities[0].end_ns = 0;
  capture::CallEvent& call = capture.call(32, 0, 160, 170);
  call.launch_index = 6;
  call.function = 2;
  capture.activity(32, 165, 175);
  capture.before.emplace_back(capture::MetricSetRecord{1, 0, 10, test::sample_metrics(), {}});
  capture::LaunchRecord launch = test::sample_launch(5, test::key(2, {8, 8, 1}, {16, 16, 1}), 0, 310);
  capture.before.emplace_back(launch);
  capture.before.emplace_back(launch);  // the same again does not count twice
  launch.index = 8;
  launch.values.resize(3);
  capture.before.emplace_back(launch);
  const Timeline t = load(capture);
  ASSERT_THAT(t.activities, SizeIs(2));
  EXPECT_EQ(t.activities[0].launch_index, 5U);  // by its call at 130
  EXPECT_EQ(t.activities[0].start_ns, 0);
  EXPECT_EQ(t.activities[1].launch_index, 6U);
  EXPECT_EQ(t.activities[0].config, t.activities[1].config);
  const auto& measured = t.measured.at(t.activities[0].config);
  EXPECT_THAT(measured.at("gpu__time_duration.sum"), ElementsAre(310));
  EXPECT_FALSE(measured.contains("smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"));  // NaN
  EXPECT_THAT(words(t), SizeIs(2));
  const MeasuredLaunch& how = t.measured_launches.at(t.activities[0].config).at(0);
  EXPECT_EQ(how.launch_index, 5U);
  EXPECT_EQ(how.replay_mode, capture::ReplayMode::kernel);
  EXPECT_EQ(how.passes, 10U);
  EXPECT_EQ(t.metric_sets.at(how.metric_set).record.metrics, test::sample_metrics());
  EXPECT_EQ(t.configs[t.activities[0].config].kernel, t.activities[0].kernel);
}

TEST_F(LoadTimeline, ValuesStandAtThePositionOfTheirLaunch) {
  test::EventCapture capture = small_capture();
  capture.before.emplace_back(capture::MetricSetRecord{1, 0, 1, {"first.sum", "second.sum"}, {"none.sum"}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::uint64_t index = 20; index < 23; ++index) {
    capture::LaunchRecord launch = test::sample_launch(index, test::key(2, {8, 8, 1}, {16, 16, 1}), 0, 310);
    launch.mode = index == 21 ? static_cast<capture::ReplayMode>(77) : capture::ReplayMode::iteration;
    launch.cache_control = static_cast<capture::CacheControl>(index == 21 ? 9 : 1);
    launch.values = {index == 21 ? nan : static_cast<double>(index), index == 20 ? nan : 5.0};
    capture.before.emplace_back(launch);
  }
  const Timeline t = load(capture);
  ASSERT_EQ(t.measured.size(), 1U);
  const auto& [config, metrics] = *t.measured.begin();
  EXPECT_THAT(metrics.at("first.sum"), ElementsAre(20, testing::NanSensitiveDoubleEq(nan), 22));
  EXPECT_THAT(metrics.at("second.sum"), ElementsAre(testing::NanSensitiveDoubleEq(nan), 5, 5));
  const std::vector<MeasuredLaunch>& launches = t.measured_launches.at(config);
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[0].replay_mode, capture::ReplayMode::iteration);
  EXPECT_EQ(launches[0].cache_control, capture::CacheControl::all);
  EXPECT_EQ(launches[1].replay_mode, capture::ReplayMode::none) << "of a newer version";
  EXPECT_EQ(launches[1].cache_control, capture::CacheControl::none);
}

TEST_F(LoadTimeline, CountsLaunchesWithTheGpuTimeOfTheTimeline) {
  test::EventCapture capture = small_capture();
  capture::KeyStatsRecord record;
  capture::KeyStats stats;
  stats.key = test::key(2, {8, 8, 1}, {16, 16, 1});
  stats.launches = stats.matched = 9;
  record.keys = {stats};
  stats.launches = stats.matched = 10;
  stats.reason = static_cast<capture::SkipReason>(200);
  record.graph_launches = 4;
  capture.before.emplace_back(record);
  record.keys = {stats, {.key = {.device = 0, .function = 77}, .launches = 5}};
  record.timing_complete = true;
  capture.before.emplace_back(record);  // the last one counts
  const Timeline t = load(capture);
  ASSERT_EQ(t.counts.size(), 2U);
  EXPECT_EQ(t.counts[0].launches, 10U);
  EXPECT_EQ(t.counts[0].reason, capture::SkipReason::none) << "of a newer version";
  EXPECT_EQ(t.counts[0].config, t.activities[0].config);
  EXPECT_EQ(t.counts[0].timed, 1U);
  EXPECT_EQ(t.counts[0].timed_gpu_ns, static_cast<std::uint64_t>(t.activities[0].end_ns - t.activities[0].start_ns));
  EXPECT_EQ(t.counts[1].config, kNone) << "of all configurations of its function";
  EXPECT_EQ(t.counts[1].kernel, kNone) << "which the capture does not describe";
  EXPECT_EQ(t.processes[0].graph_launches, 4U);
  EXPECT_TRUE(t.processes[0].timing_complete);
}

TEST_F(LoadTimeline, ProcessesOfOneHostShareGpusAndTheClock) {
  test::EventCapture first = small_capture(), second = small_capture();
  second.process.pid = 4243;
  second.devices[0].index = 1;
  second.activities[0].device = 1;
  second.clock.unix_ns += 1'000'000;  // the wall clock was set
  const Timeline t = load({write(first.records()), write(second.records())});
  EXPECT_THAT(words(t), IsEmpty());
  EXPECT_THAT(t.devices, SizeIs(1));
  EXPECT_THAT(t.kernels, SizeIs(2));
  EXPECT_THAT(t.configs, SizeIs(2));
  EXPECT_THAT(t.threads, ElementsAre(Thread{0, 100}, Thread{1, 100}));
  EXPECT_THAT(parents(t), ElementsAre(kNone, kNone, 0, 1, 2, 3));
  EXPECT_EQ(t.ranges[1].start_ns, 100);
  EXPECT_EQ(t.ranges[1].thread, 1U);
  EXPECT_EQ(t.calls[1].range, 5U);
  EXPECT_EQ(t.activities[1].call, 1U);
}

TEST_F(LoadTimeline, ShiftsTheClocksOfOtherHosts) {
  test::EventCapture first = small_capture(), second = small_capture(), third = small_capture();
  second.process.host = "other-host";
  second.clock.unix_ns += 40;  // booted 40 ns later: the same moment is 40 less there
  second.activity(31, 0, 0);
  third.process.host = "third-host";
  third.clock = {};
  const Timeline t = load({write(first.records()), write(second.records()), write(third.records())});
  std::vector<std::int64_t> starts;
  for (const Call& call : t.calls) starts.push_back(call.start_ns);
  EXPECT_THAT(starts, ElementsAre(130, 130, 170));
  EXPECT_EQ(t.processes[1].clock.monotonic_ns, 1'040);
  EXPECT_EQ(
      std::count_if(t.activities.begin(), t.activities.end(), [](const Activity& activity) { return activity.end_ns == 0; }), 1);
  EXPECT_THAT(t.devices, SizeIs(3));  // the same bus, other machines
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("Captures of another host whose clock is not known")));
}

TEST_F(LoadTimeline, LaterFactsReplaceEarlierOnesOfTheProcess) {
  test::EventCapture first, second;
  first.before.emplace_back(capture::FactsRecord{{{"pytorch", "amp", "false"}, {"pytorch", "version", "2.11"}}});
  first.before.emplace_back(capture::FactsRecord{{{"pytorch", "amp", "true"}}});
  second.before.emplace_back(capture::FactsRecord{{{"pytorch", "amp", "false"}, {"jax", "version", "0.11"}}});
  const Timeline t = load({write(first.records()), write(second.records())});
  using capture::Fact;
  EXPECT_THAT(t.facts,
              ElementsAre(Fact{"pytorch", "amp", "true"}, Fact{"pytorch", "version", "2.11"}, Fact{"jax", "version", "0.11"}));
}

TEST_F(LoadTimeline, SaysOnceThatWhatCompiledCodeWasMadeFromIsNotKnown) {
  test::EventCapture first, second;
  for (test::EventCapture* capture : {&first, &second}) {
    capture->before.emplace_back(capture::FactsRecord{{{"pytorch", "compiled_failure", "KeyError: 'mm'"}}});
  }
  const Timeline t = load({write(first.records()), write(second.records())});
  EXPECT_THAT(words(t), ElementsAre(AllOf(HasSubstr("have no module and no Python line"), HasSubstr("KeyError: 'mm'"))));
}

TEST_F(LoadTimeline, LeavesLaunchesOfAutotuningOut) {
  test::EventCapture capture;
  capture.range(range_id(0), 0, 100, 900, "dlkprof:autotuning");
  capture.call(1, range_id(0), 200, 210);
  capture.call(2, 0, 1'000, 1'010);
  capture.activity(1, 300, 400, "trial");
  capture.activity(2, 1'100, 1'200, "relu");
  const Timeline t = load(capture);
  ASSERT_THAT(t.activities, SizeIs(1));
  EXPECT_EQ(t.kernels[t.activities[0].kernel].name, "relu");
  EXPECT_EQ(t.activities[0].call, 0U);
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("1 launch of autotuning left out")));
}

TEST_F(LoadTimeline, GivesTheNoticesOfTheCapture) {
  test::EventCapture capture;
  const capture::NoticeRecord notice{capture::Severity::error, "a launch failed", "CUDA_ERROR", "Try again."};
  capture.before = {notice, notice};
  EXPECT_THAT(words(load(capture)), ElementsAre("a launch failed CUDA_ERROR"));
}

TEST_F(LoadTimeline, SaysWhatIsDamaged) {
  test::EventCapture capture = small_capture();
  std::vector<Record> records = capture.records();
  records.pop_back();
  capture::EventsRecord batch = capture::pack_events(std::span<const capture::CallEvent>(capture.calls));
  batch.count = 1'000;
  records.emplace_back(batch);
  batch.kind = static_cast<capture::EventKind>(9);
  records.emplace_back(batch);
  const std::filesystem::path path = write(records);
  std::ofstream(path, std::ios::app | std::ios::binary) << "DLKR";
  const Timeline t = load({path});
  EXPECT_THAT(t.ranges, SizeIs(3));
  EXPECT_THAT(words(t), ElementsAre(HasSubstr("was not closed capture1.dlkcap"), HasSubstr("in the middle of a record"),
                                    HasSubstr("does not know left out: 1"), HasSubstr("Damaged batches of events left out: 1")));
}

TEST_F(LoadTimeline, ACaptureCutAnywhereGivesWhatIsWhole) {
  const std::filesystem::path path = write(small_capture().records());
  const Timeline whole = load({path});
  std::size_t ranges = whole.ranges.size(), calls = whole.calls.size();
  for (auto size = std::filesystem::file_size(path); size > 16; --size) {
    std::filesystem::resize_file(path, size);
    const Timeline t = load({path});
    EXPECT_LE(t.ranges.size(), ranges) << size;
    EXPECT_LE(t.calls.size(), calls) << size;
    ranges = t.ranges.size();
    calls = t.calls.size();
  }
  EXPECT_EQ(ranges + calls, 0U);
}

TEST_F(LoadTimeline, RefusesWhatIsNoCapture) {
  const std::filesystem::path path = folder_.path() / "text";
  std::ofstream(path) << "no capture at all, but text";
  EXPECT_THROW((void)load({path}), Error);
  EXPECT_THROW((void)load({folder_.path() / "missing"}), Error);
}

TEST_F(LoadTimeline, NoCaptureGivesAnEmptyTimeline) {
  const Timeline t = load(std::vector<std::filesystem::path>{});
  EXPECT_THAT(t.processes, IsEmpty());
  EXPECT_THAT(t.strings, ElementsAre(""));
}

TEST_F(LoadTimeline, KeepsItsPromisesWhateverTheEventsSay) {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  const auto any = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int round = 0; round < 60; ++round) {
    test::EventCapture capture;
    capture.before = {test::function(1, test::kTiledGemm), test::function(2, test::kRelu)};
    for (int i = 0; i < 60; ++i) {
      capture::RangeEvent& range =
          capture.range(range_id(any(40), any(3)), any(4) == 0 ? 0 : range_id(any(40), any(3)), any(100), any(200));
      range.thread = any(3);
      range.name = any(100);
      range.kind = static_cast<capture::RangeKind>(any(4));
      capture::CallEvent& call = capture.call(any(50), any(3) == 0 ? 0 : range_id(any(40), any(3)), any(100), any(200));
      call.thread = any(3);
      call.function = any(4);
      capture::ActivityEvent& activity = capture.activity(any(50), any(3) == 0 ? 0 : any(100), any(300));
      activity.kind = static_cast<capture::ActivityKind>(any(4));
      activity.device = any(3);
      activity.graph_node = any(2);
    }
    const Timeline t = load(capture);
    EXPECT_LE(t.ranges.size(), 60U);
    if (HasFailure()) break;
  }
}

// Each range outlasts the one around it, over and over: looking through all levels would take minutes.
TEST_F(LoadTimeline, IsFastOnHostileNesting) {
  constexpr std::uint64_t kLevels = 30'000;
  test::EventCapture capture;
  const std::uint32_t name = capture.text("level");
  for (std::uint64_t i = 0; i < 2 * kLevels; ++i) {
    capture::RangeEvent event;
    event.id = range_id(i);
    event.parent = i == 0 ? 0 : range_id(i < kLevels ? i - 1 : kLevels - 1);
    event.thread = 100;
    event.name = name;
    event.start_ns = static_cast<std::int64_t>(i + 1);
    event.end_ns = static_cast<std::int64_t>(i < kLevels ? 10 * kLevels - i : 20 * kLevels);
    capture.ranges.push_back(event);
  }
  const std::filesystem::path path = write(capture.records());
  const auto start = std::chrono::steady_clock::now();
  const Timeline t = load_timeline(std::vector{path});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(t.ranges[kLevels - 1].parent, kLevels - 2);
  EXPECT_EQ(t.ranges[kLevels].parent, kNone);
}

// Those in samples/captures whether or not they have events.
TEST_F(LoadTimeline, ReadsTheShippedCaptures) {
  int captures = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DLKPROF_SOURCE_DIR "/samples/captures")) {
    if (entry.path().extension() != ".dlkcap") continue;
    ++captures;
    const Timeline t = load({entry.path()});
    ASSERT_THAT(t.devices, SizeIs(1));
    EXPECT_EQ(t.devices[0].record.chip, "GH100");
    EXPECT_FALSE(t.kernels.empty());
    EXPECT_NE(t.measured.empty(), t.pc_samples.instructions.empty());
    for (const auto& [config, metrics] : t.measured) {
      EXPECT_GE(metrics.size(), 10U);
      EXPECT_GT(t.configs.at(config).key.function, 0U);
    }
  }
  EXPECT_GE(captures, 2);
}

}  // namespace
}  // namespace dlkprof::model::timeline_test
