#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "model/timeline/message.h"
#include "unit/model/timeline/timeline_fixture.h"

namespace dlkprof::model::timeline_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using test::range_id;

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

TEST_F(LoadTimeline, KernelsOfAGraphThatWasLaunchedNodeByNodeRunOneAfterAnother) {
  test::EventCapture capture = held_capture();
  capture.calls[1].launch_index = capture::kNoLaunch;
  capture.calls[1].function = 0;
  capture.call(3, range_id(0), 1'000'100, 1'000'110);
  for (const std::uint64_t node : {5, 6}) capture.activity(1, 0, 0).graph_node = node;
  capture.activity(1, 0, 0, test::kRelu).graph_node = 7;
  capture.activity(1, 0, 0, test::kCutlass).graph_node = 8;
  capture.activity(3, 1'000'120, 1'000'145, test::kCutlass).graph_node = 8;
  const Timeline t = load(capture);
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const Activity& activity : t.activities) {
    if (!activity.in_graph || activity.call != 1) continue;
    spans.emplace_back(activity.start_ns, activity.end_ns);
    EXPECT_EQ(activity.replayed && activity.estimated, is_timed(activity));
  }
  EXPECT_THAT(spans, UnorderedElementsAre(std::pair(260, 330), std::pair(330, 400), std::pair(400, 425), std::pair(0, 0)))
      << "as measured, twice; as timed in another launch; not known";
  EXPECT_EQ(t.processes[0].held_ns, 1'000'000 - 260 - 70 - 70 - 25);
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

}  // namespace
}  // namespace dlkprof::model::timeline_test
