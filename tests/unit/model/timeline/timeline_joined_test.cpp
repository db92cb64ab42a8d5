#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include "base/error.h"
#include "unit/model/timeline/timeline_fixture.h"

namespace dlkprof::model::timeline_test {
namespace {

using capture::Record;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using test::range_id;

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

// CUPTI gives them the number 0, which no call has.
TEST_F(LoadTimeline, WorkOfConditionalNodesIsOfTheGraphLaunchThatRanLast) {
  test::EventCapture capture;
  for (const std::uint32_t call : {5, 6, 7}) capture.call(call, 0, 10 * call, 10 * call + 5);
  const auto in_graph = [&](std::uint32_t call, std::int64_t start) { capture.activity(call, start, start + 5).graph_node = 9; };
  in_graph(0, 100);  // nothing ran before it
  in_graph(0, 220);  // told in another order than they ran
  in_graph(5, 200);
  in_graph(0, 210);
  capture.activity(6, 300, 305);
  in_graph(0, 310);  // which launch ran last is not known
  in_graph(7, 400);
  in_graph(0, 410);
  in_graph(8, 420);  // the capture lacks that call, and CUPTI gave it a number
  const Timeline t = load(capture);
  std::vector<std::uint32_t> calls;
  for (const Activity& activity : t.activities) calls.push_back(activity.call);
  EXPECT_THAT(calls, ElementsAre(kNone, 0U, 0U, 0U, 1U, kNone, 2U, 2U, kNone));
  EXPECT_THAT(words(t),
              AllOf(Contains(HasSubstr("conditional nodes of CUDA graphs, counted for the graph launch that ran before it: 3")),
                    Contains(HasSubstr("whose CUDA call the capture does not hold: 3"))));
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
