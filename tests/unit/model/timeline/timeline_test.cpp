#include "model/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "model/timeline/message.h"
#include "unit/model/timeline/timeline_fixture.h"

namespace dlkprof::model::timeline_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using test::range_id;

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

// Triton compiles kernels of one name for each way of dividing the work.
TEST_F(LoadTimeline, AKernelOfAGraphIsOfTheFunctionThatWasLaunchedLikeIt) {
  test::EventCapture capture;
  for (std::uint32_t function = 1; function <= 4; ++function)
    capture.before.emplace_back(test::function(function, test::kSimpleGemm));
  const auto stats_of = [](std::uint32_t function, std::uint32_t grid, capture::SkipReason reason) {
    capture::KeyStats stats;
    stats.key = test::key(function, {grid, 8, 1}, {16, 16, 1});
    stats.launches = 9;
    stats.reason = reason;
    return stats;
  };
  using enum capture::SkipReason;
  capture::KeyStatsRecord stats;
  stats.keys = {stats_of(1, 8, none), stats_of(2, 8, captured), stats_of(3, 9, none), stats_of(3, 10, captured),
                stats_of(4, 10, captured)};
  capture.before.emplace_back(stats);
  capture.call(9, 0, 100, 110);
  for (std::uint32_t grid = 8; grid <= 11; ++grid) {
    capture::ActivityEvent& kernel = capture.activity(9, 200 + grid, 201 + grid, test::kSimpleGemm);
    kernel.graph_node = grid;
    kernel.grid.x = grid;
  }
  const Timeline t = load(capture);
  std::vector<std::uint32_t> functions;
  for (const Activity& activity : t.activities) functions.push_back(t.configs.at(activity.config).key.function);
  EXPECT_THAT(functions, ElementsAre(2U, 3U, 0U, 0U)) << "captured; the only one; two were; none was";
}

// XLA loads a kernel once to try it and once for its graph: both were measured, and only the launch of the node by itself tells.
TEST_F(LoadTimeline, AKernelOfAGraphIsOfTheFunctionThatItsNodesLaunchTold) {
  test::EventCapture capture;
  for (std::uint32_t function = 1; function <= 2; ++function) {
    capture.before.emplace_back(test::function(function, test::kSimpleGemm));
    capture::KeyStatsRecord stats;
    stats.keys = {{.key = test::key(function, {8, 8, 1}, {16, 16, 1}), .launches = 9, .measured = 2}};
    capture.before.emplace_back(stats);
  }
  capture.call(9, 0, 100, 110);
  const auto run = [&](std::uint64_t node, const std::string& kernel) -> capture::ActivityEvent& {
    capture.activity(9, 200, 210, kernel).graph_node = node;
    return capture.activities.back();
  };
  const auto id = [](std::uint64_t graph, std::uint64_t node) { return graph << 32U | node; };
  for (const std::uint64_t node : {1, 2, 3})
    capture.graphs.push_back({.kind = capture::GraphEventKind::node_made, .id = id(1, node), .graph = 1});
  capture.graphs.push_back({.kind = capture::GraphEventKind::executable_made, .id = 2, .original = 1});
  run(id(1, 1), test::kSimpleGemm).function = 2;
  run(id(2, 1), test::kSimpleGemm);  // the same node, of the executable graph
  run(id(2, 2), test::kSimpleGemm);
  run(id(1, 3), test::kSimpleGemm).function = 99;  // of a damaged capture
  run(id(2, 1), test::kRelu);                      // set to another kernel since
  const Timeline t = load(capture);
  std::vector<std::uint32_t> functions;
  for (const Activity& activity : t.activities) functions.push_back(t.configs.at(activity.config).key.function);
  EXPECT_THAT(functions, ElementsAre(2U, 2U, 0U, 0U, 0U));
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

TEST_F(LoadTimeline, ACopyWithoutItsEndLastsAsTheShortestAlike) {
  test::EventCapture capture;
  const auto copy = [&](std::int64_t start, std::int64_t end, std::uint64_t bytes) {
    const auto number = static_cast<std::uint32_t>(capture.calls.size());
    capture.call(number, 0, start - 10, start - 5);
    capture::ActivityEvent& activity = capture.activity(number, start, end);
    activity.kind = capture::ActivityKind::copy;
    activity.copy = capture::CopyKind::dtod;
    activity.bytes = bytes;
  };
  copy(100, 107, 8);
  copy(200, 203, 8);
  copy(300, 301, 4);
  copy(400, 9000, 8);      // as those of 8 bytes
  copy(1000, 9000, 5);     // as those of 8 bytes, the next more
  copy(2000, 9000, 1000);  // the only one: until the stream goes on
  copy(3000, 3001, 2);
  const Timeline t = load(capture);
  std::vector<std::int64_t> ns;
  for (const Activity& activity : t.activities) ns.push_back(activity.end_ns - activity.start_ns);
  EXPECT_THAT(ns, UnorderedElementsAre(7, 3, 1, 3, 3, 1000, 1));
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

}  // namespace
}  // namespace dlkprof::model::timeline_test
