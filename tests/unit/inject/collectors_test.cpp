// Each collector of the session with functions that are only counted: what it measures, skips, gives back and gives up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "inject/sampling/sass_collector.h"
#include "inject/session/auto_collector.h"
#include "inject/session/sample_collector.h"
#include "inject/timeline/event_log.h"
#include "support/temporary_directory.h"
#include "unit/inject/counted_functions.h"

namespace dlkprof::inject::collectors_test {
namespace {

using capture::SkipReason;

class CollectorsTest : public ::testing::Test {
 protected:
  CollectorsTest() {
    counted::state() = {};
    options.output_directory = folder.path().string();
    options.timeline = false;
    options.quiet = true;
    options.metrics = {{{"sm__cycles_active.avg"}}};
    device.chip = "GH100";
    device.pci_bus_id = "of test process " + std::to_string(getpid());  // those that run beside it have turns of their own
  }

  // A launch of the `which`-th configuration.
  Launch launch(std::uint32_t which, select::Verdict verdict = select::Verdict::selected) {
    capture::LaunchKey key;
    key.function = which;
    const auto line = ledger.launched(key, select::NameMatch::yes, verdict != select::Verdict::unmatched);
    Launch made{.call = call, .data = data, .function = &function, .device = &device, .entry = line.entry};
    made.verdict = verdict;
    made.record.key = key;
    made.record.index = launches++;
    made.alone_since = std::chrono::steady_clock::now();
    return made;
  }
  // What a session does of it.
  bool wants(Collector& collector, Launch& made) {
    services.saw(made);
    return collector.wants(made);
  }
  // Whether the launch was measured.
  bool run(Collector& collector, Launch made) {
    if (!wants(collector, made) || !collector.enter(made)) return false;
    (void)collector.leave(data);
    return true;
  }
  SkipReason reason_of(std::uint32_t which) {
    const auto changes = ledger.changes(true);
    for (const auto& stats : changes ? changes->keys : std::vector<capture::KeyStats>()) {
      if (stats.key.function == which) return stats.reason;
    }
    return SkipReason::none;
  }
  int calls(const char* name) {
    const std::lock_guard lock(counted::calls_mutex());
    return counted::state().calls[name];
  }

  test::TemporaryDirectory folder;
  capture::ProfileOptions options;
  const cupti::Library library = counted::library();
  const cupti::Driver driver = counted::driver();
  Recorder recorder{options, 24, 13000};
  Ledger ledger;
  EventLog log{recorder};
  Timeline timeline{log};
  GraphWatch graphs{driver};
  select::Selector selector = select::Selector::compile({});
  int measured = 0, ends = 0;
  CollectorServices::Parts parts() {
    return {options, library, driver, recorder, ledger, timeline, graphs, [this] { ++ends; }, [this] { ++measured; }};
  }
  CollectorServices services{parts()};
  LaunchCall call;
  CUpti_CallbackData data{};
  KernelFunction function;
  capture::DeviceRecord device;
  std::uint64_t launches = 0;
};

bool no_framework() { return false; }
bool a_framework() { return true; }

TEST_F(CollectorsTest, KernelReplaysTheFirstLaunchOfAConfiguration) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_FALSE(run(collector, launch(3, select::Verdict::unmatched)));
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 2);
  EXPECT_EQ(calls("cuptiRangeProfilerEnable"), 1);
  EXPECT_EQ(measured, 2);
}

TEST_F(CollectorsTest, KernelSkipsWhatAReplayCouldHang) {
  KernelCollector collector(services, selector);
  call.cooperative = true;
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(reason_of(1), SkipReason::cooperative);
  call.cooperative = false;
  function.collective = true;
  EXPECT_FALSE(run(collector, launch(2)));
  EXPECT_EQ(reason_of(2), SkipReason::collective);
  function.collective = false;
  graphs.capture_begins();
  EXPECT_FALSE(run(collector, launch(3)));
  EXPECT_EQ(reason_of(3), SkipReason::captured);
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
}

TEST_F(CollectorsTest, KernelDoesNotBeginAReplayThatMemoryMakesTooDear) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  counted::state().passes = 15;
  counted::state().used_bytes = 105'000'000'000;
  counted::state().free_bytes = 44'500'000'000;
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(reason_of(1), SkipReason::memory);
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
  counted::state().used_bytes = 64'000'000'000;  // what fits beside itself stays on the GPU
  counted::state().free_bytes = 85'500'000'000;
  EXPECT_TRUE(run(collector, launch(2)));
}

TEST_F(CollectorsTest, KernelGivesIdleCountersBack) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  launches += 2000;
  Launch later = launch(1);
  EXPECT_TRUE(wants(collector, later));
  EXPECT_FALSE(collector.enter(later));
  EXPECT_EQ(calls("cuptiRangeProfilerDisable"), 1);
  EXPECT_FALSE(run(collector, launch(1)));
}

TEST_F(CollectorsTest, KernelGivesUpAfterFailuresInARow) {
  KernelCollector collector(services, selector);
  counted::state().failing = {"cuptiRangeProfilerStart"};
  for (std::uint32_t which = 1; which <= 4; ++which) EXPECT_FALSE(run(collector, launch(which)));
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 3);
  EXPECT_FALSE(collector.can_measure());
}

TEST_F(CollectorsTest, KernelLaunchesThatTheDriverRefusesAreNoFailures) {
  KernelCollector collector(services, selector);
  CUresult refused = CUDA_ERROR_INVALID_VALUE;
  data.functionReturnValue = &refused;  // a replay has counted nothing then
  for (std::uint32_t which = 1; which <= 5; ++which) EXPECT_TRUE(run(collector, launch(which)));
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 5);
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(reason_of(5), SkipReason::refused);
  EXPECT_TRUE(collector.can_measure());
  EXPECT_EQ(ends, 1) << "it is set up once";
  EXPECT_EQ(calls("cuptiRangeProfilerDisable"), 5) << "the next one begins with the first pass";
}

TEST_F(CollectorsTest, KernelTriesWhatIsAlwaysRefusedThreeTimes) {
  KernelCollector collector(services, selector);
  CUresult refused = CUDA_ERROR_INVALID_VALUE;
  data.functionReturnValue = &refused;
  counted::state().ranges = 1;
  options.samples.reset();
  const auto launch_as = [&](CUresult result) {
    refused = result;
    return run(collector, launch(1));
  };
  EXPECT_TRUE(launch_as(CUDA_ERROR_INVALID_VALUE));
  EXPECT_TRUE(launch_as(CUDA_ERROR_INVALID_VALUE));
  EXPECT_TRUE(launch_as(CUDA_SUCCESS)) << "after which they count anew";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(launch_as(CUDA_ERROR_INVALID_VALUE));
  EXPECT_FALSE(launch_as(CUDA_ERROR_INVALID_VALUE));
  EXPECT_EQ(reason_of(1), SkipReason::refused);
}

TEST_F(CollectorsTest, KernelWaitsForAllGpusOfTheProcess) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuDevicePrimaryCtxRetain"), 0);
  counted::state().devices = 3;
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuDevicePrimaryCtxRetain"), 2) << "besides the launch's own";
  EXPECT_EQ(calls("cuDevicePrimaryCtxRelease"), 2);
}

TEST_F(CollectorsTest, KernelReplaysNothingBesideCollectivesOfSeveralGpus) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  counted::state().devices = 2;
  EXPECT_TRUE(run(collector, launch(1)));
  function.collective = true;
  EXPECT_FALSE(run(collector, launch(2, select::Verdict::unmatched)));
  function.collective = false;
  EXPECT_FALSE(run(collector, launch(3)));
  EXPECT_EQ(reason_of(3), SkipReason::collective);
}

TEST_F(CollectorsTest, KernelLooksForCollectivesAgainOnceALaunchIsAlone) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  counted::state().devices = 2;
  Launch waits = launch(1);
  EXPECT_TRUE(wants(collector, waits));
  function.collective = true;
  Launch collective = launch(2);
  EXPECT_FALSE(wants(collector, collective));
  function.collective = false;
  EXPECT_FALSE(collector.enter(waits));
  const auto changes = ledger.changes(true);
  ASSERT_TRUE(changes);
  EXPECT_EQ(changes->keys.front().reason, SkipReason::collective);
  EXPECT_EQ(changes->keys.front().measured, 0U) << "the sample is given back";
}

TEST_F(CollectorsTest, NothingIsMadeAloneOnceStreamsWaitForValues) {
  counted::state().ranges = 1;
  WindowCollector windows(services, true);
  EXPECT_TRUE(run(windows, launch(1)));
  services.saw_values();
  EXPECT_FALSE(run(windows, launch(2)));
  windows.finish();
  KernelCollector kernels(services, selector);
  EXPECT_FALSE(run(kernels, launch(3)));
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
}

TEST_F(CollectorsTest, KernelReplaysNothingOnceTheProcessEnds) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(ends, 1) << "which is registered once NVPerf is in use";
  Launch waits = launch(2);
  EXPECT_TRUE(wants(collector, waits));
  collector.finish();
  EXPECT_FALSE(collector.enter(waits));
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 1);
}

TEST_F(CollectorsTest, KernelForgetsTheContextThatEnds) {
  KernelCollector collector(services, selector);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  collector.context_ends(nullptr);
  EXPECT_EQ(calls("cuptiRangeProfilerDisable"), 1);
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiRangeProfilerEnable"), 2);
}

TEST_F(CollectorsTest, WindowMeasuresTheLaunchesThatItPicks) {
  WindowCollector collector(services, false);
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiProfilerBeginPass"), 1);
  EXPECT_EQ(calls("cuptiProfilerEnableProfiling"), 2);
  EXPECT_EQ(calls("cuptiProfilerDisableProfiling"), 2);
  EXPECT_EQ(calls("cuptiProfilerEndPass"), 0);
  counted::state().ranges = 2;
  collector.finish();
  EXPECT_EQ(calls("cuptiProfilerEndPass"), 1);
  EXPECT_EQ(calls("cuptiProfilerEndSession"), 1);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(ledger.changes(true)->keys[0].measured, 1U);
}

TEST_F(CollectorsTest, WindowKeepsLaunchesBeforeOneThatTheDriverRefuses) {
  CUresult result = CUDA_SUCCESS;
  data.functionReturnValue = &result;
  for (const std::size_t counted_ranges : {2, 3}) {  // whether CUPTI counts a range of it is not known
    counted::state() = {};
    WindowCollector collector(services, false);
    const auto first = static_cast<std::uint32_t>(10 * counted_ranges);
    EXPECT_TRUE(run(collector, launch(first)));
    EXPECT_TRUE(run(collector, launch(first + 1)));
    result = CUDA_ERROR_INVALID_VALUE;
    counted::state().ranges = counted_ranges;
    EXPECT_TRUE(run(collector, launch(first + 2)));
    EXPECT_EQ(calls("cuptiProfilerEndPass"), 1);
    result = CUDA_SUCCESS;
    EXPECT_TRUE(run(collector, launch(first + 3)));
    counted::state().ranges = 1;
    collector.finish();
    EXPECT_EQ(calls("cuptiProfilerEndPass"), 2);
    std::map<std::uint32_t, std::uint64_t> measured_of;
    const auto changes = ledger.changes(true);
    for (const auto& stats : changes->keys) measured_of[stats.key.function] = stats.measured;
    EXPECT_EQ(measured_of[first], 1U);
    EXPECT_EQ(measured_of[first + 1], 1U);
    EXPECT_EQ(measured_of[first + 2], 0U);
    EXPECT_EQ(measured_of[first + 3], 1U);
  }
}

TEST_F(CollectorsTest, WhatIsAlwaysRefusedIsGivenUp) {
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  data.functionReturnValue = &result;
  WindowCollector collector(services, false);
  for (int i = 0; i < 20; ++i) (void)run(collector, launch(1));
  EXPECT_EQ(calls("cuptiProfilerEndPass"), static_cast<int>(PassScheduler::kMostFailures));
  collector.finish();
}

TEST_F(CollectorsTest, AWindowMayHoldNothingButALaunchThatTheDriverRefused) {
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  data.functionReturnValue = &result;
  WindowCollector collector(services, false);
  for (std::uint32_t which = 1; which <= 5; ++which) EXPECT_TRUE(run(collector, launch(which)));
  EXPECT_EQ(calls("cuptiProfilerEndPass"), 5);
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 1) << "none of them failed";
  EXPECT_EQ(reason_of(5), SkipReason::refused);
  collector.finish();
}

TEST_F(CollectorsTest, WindowMeasuresNothingWhileAStreamIsCaptured) {
  WindowCollector collector(services, false);
  EXPECT_TRUE(run(collector, launch(1)));
  graphs.capture_begins();
  EXPECT_FALSE(run(collector, launch(2)));
  EXPECT_EQ(reason_of(2), SkipReason::captured);
  EXPECT_EQ(calls("cuptiProfilerEndPass"), 0) << "which would end the capture";
  graphs.capture_ends();
  EXPECT_TRUE(run(collector, launch(2)));
  counted::state().ranges = 2;
  collector.finish();
}

TEST_F(CollectorsTest, WindowsWantNodesOfGraphsAsLongAsTheirKernelsLackPasses) {
  WindowCollector collector(services, false);
  counted::state().passes = 1;
  const Launch inside = launch(1), other = launch(2, select::Verdict::unmatched);
  const std::vector<Ledger::Entry> known{inside.entry}, known_of_other{other.entry};
  const Collector::GraphKernels of_graph{known}, of_other{known_of_other};
  using enum Collector::ByNodes;
  EXPECT_EQ(collector.by_nodes(data.context, {}), yes) << "its kernels are not known yet";
  EXPECT_EQ(collector.by_nodes(data.context, of_graph), no) << "none of them was measured";
  EXPECT_TRUE(run(collector, launch(3)));
  EXPECT_FALSE(run(collector, other));
  EXPECT_TRUE(wants(collector, const_cast<Launch&>(inside)));
  EXPECT_EQ(collector.by_nodes(data.context, of_graph), yes);
  EXPECT_EQ(collector.by_nodes(data.context, of_other), no) << "it is not selected";
  counted::state().ranges = 1;
  collector.finish();
  EXPECT_EQ(collector.by_nodes(data.context, of_graph), no) << "nothing is measured any more";
}

TEST_F(CollectorsTest, WindowsGiveBackCountersThatNothingWantsUntilSomethingDoes) {
  options.samples = 1;
  counted::state().ranges = 1;
  WindowCollector collector(services, false);
  EXPECT_TRUE(run(collector, launch(1)));
  for (int i = 0; i < 5'000; ++i) EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiProfilerEndSession"), 0);
  for (int i = 0; i < 2'000; ++i) EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiProfilerEndSession"), 1);
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 2);
  collector.finish();
  const auto changes = ledger.changes(true);
  ASSERT_EQ(changes->keys.size(), 2U);
  for (const auto& stats : changes->keys) EXPECT_EQ(stats.measured, 1U) << stats.key.function;
}

TEST_F(CollectorsTest, WindowsMeasureWhatComesLateAsLongAsThereIsATimeline) {
  options.samples = 1;
  counted::state().ranges = 1;
  for (const bool stays : {true, false}) {
    options.timeline = stays;
    WindowCollector collector(services, false);
    EXPECT_TRUE(run(collector, launch(1)));
    for (int i = 0; i < 20'001; ++i) EXPECT_FALSE(run(collector, launch(1)));
    EXPECT_EQ(collector.poll(launch(1)), !stays);
    EXPECT_EQ(run(collector, launch(2)), stays);
    collector.finish();
  }
}

TEST_F(CollectorsTest, WindowsOfOnePlanAndThenAnother) {
  options.first_metrics = {{{"gpu__time_duration.sum"}}};
  counted::state().passes = 1;
  WindowCollector collector(services, false);
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 1);
  counted::state().ranges = 1;
  collector.finish();
}

TEST_F(CollectorsTest, WindowsLeaveCollectivesAloneWhereNobodyAskedForThemOrThereAreSeveralGpus) {
  using enum Collector::ByNodes;
  const Collector::GraphKernels with_collective{.collective = true};
  for (const auto& [cautious, gpus] : {std::pair(true, 1), std::pair(false, 2)}) {
    counted::state().devices = gpus;
    CollectorServices fresh(parts());
    WindowCollector collector(fresh, cautious);
    EXPECT_TRUE(run(collector, launch(1)));
    function.collective = true;
    EXPECT_FALSE(run(collector, launch(2)));
    EXPECT_EQ(reason_of(2), SkipReason::collective);
    function.collective = false;
    EXPECT_TRUE(run(collector, launch(3)));
    EXPECT_EQ(collector.by_nodes(data.context, with_collective), no);
    EXPECT_EQ(collector.by_nodes(data.context, {}), yes);
    counted::state().ranges = 2;
    collector.finish();
  }
}

TEST_F(CollectorsTest, WindowsMeasureCollectivesOfOneGpuWhereTheyWereAskedFor) {
  WindowCollector collector(services, false);
  function.collective = true;
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(collector.by_nodes(data.context, {.collective = true}), Collector::ByNodes::yes);
  counted::state().ranges = 1;
  collector.finish();
}

TEST_F(CollectorsTest, GpusAreSeveralWhereLaunchesComeForSeveral) {
  WindowCollector collector(services, false);
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_FALSE(services.has_several_gpus());
  device.index = 1;  // whose context is not its primary one
  EXPECT_TRUE(run(collector, launch(2)));
  function.collective = true;
  EXPECT_FALSE(run(collector, launch(3)));
  EXPECT_EQ(reason_of(3), SkipReason::collective);
  counted::state().ranges = 2;
  collector.finish();
}

TEST_F(CollectorsTest, WhatConcernsOtherGpusWaitsForThemToo) {
  options.samples = 4;
  AutoCollector collector(services, selector, no_framework);
  Launch replayed = launch(1), in_window = launch(1), later = launch(1);
  EXPECT_TRUE(wants(collector, replayed));
  EXPECT_TRUE(replayed.all_gpus) << "memory of all is saved and restored";
  EXPECT_TRUE(collector.enter(replayed));
  counted::state().ranges = 1;
  (void)collector.leave(data);
  EXPECT_TRUE(wants(collector, in_window));
  EXPECT_TRUE(in_window.all_gpus) << "counters of replays are given back";
  EXPECT_TRUE(collector.enter(in_window));
  (void)collector.leave(data);
  EXPECT_TRUE(wants(collector, later));
  EXPECT_FALSE(later.all_gpus) << "each GPU has a window of its own";
  services.saw_values();
  Launch last = launch(1);
  EXPECT_TRUE(wants(collector, last));
  EXPECT_TRUE(last.all_gpus) << "all windows are closed";
  EXPECT_FALSE(collector.enter(last));
}

TEST_F(CollectorsTest, CountersOfReplaysAreHeldUntilAllGpusAreDone) {
  options.samples = 2;
  AutoCollector collector(services, selector, no_framework);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  Launch node = launch(1);  // of a graph: its own GPU alone was waited for
  EXPECT_TRUE(wants(collector, node));
  node.all_gpus = false;
  counted::state().queries_till_done = std::numeric_limits<int>::max();
  EXPECT_FALSE(collector.enter(node));
  counted::state().queries_till_done = 0;
  EXPECT_TRUE(collector.enter(node));
  (void)collector.leave(data);
  collector.finish();
}

TEST_F(CollectorsTest, WindowsAreOpenedOnceAllCountersAreGivenBack) {
  WindowCollector collector(services, false);
  counted::state().failing = {"cuptiProfilerBeginPass"};
  EXPECT_FALSE(run(collector, launch(1)));
  counted::state().failing = {};
  counted::state().queries_till_done = std::numeric_limits<int>::max();
  EXPECT_FALSE(run(collector, launch(2)));
  counted::state().queries_till_done = 0;
  EXPECT_TRUE(run(collector, launch(2)));
  collector.finish();
}

TEST_F(CollectorsTest, AWindowStaysOpenWhereItsGpuIsNotDone) {
  WindowCollector collector(services, false);
  EXPECT_TRUE(run(collector, launch(1)));
  counted::state().queries_till_done = std::numeric_limits<int>::max();
  collector.finish();
  EXPECT_EQ(calls("cuptiProfilerEndPass"), 0);
  counted::state().queries_till_done = 0;
}

TEST_F(CollectorsTest, WindowsGiveUpWhereCountersCannotBeHad) {
  WindowCollector collector(services, false);
  counted::state().failing = {"cuptiRangeProfilerEnable"};
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_FALSE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiRangeProfilerEnable"), 1);
}

TEST_F(CollectorsTest, WindowsGiveUpAfterFailuresInARow) {
  WindowCollector collector(services, false);
  counted::state().failing = {"cuptiProfilerBeginPass"};
  for (std::uint32_t which = 1; which <= 4; ++which) EXPECT_FALSE(run(collector, launch(which)));
  EXPECT_EQ(calls("cuptiProfilerBeginPass"), 3);
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 3);
  EXPECT_EQ(calls("cuptiProfilerEndSession"), 3) << "a session that something failed in is not used again";
}

TEST_F(CollectorsTest, AutoReplaysFirstLaunchesOfAPlainProgram) {
  AutoCollector collector(services, selector, no_framework);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiRangeProfilerStop"), 1);  // each replay has a session of its own
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 0);
  call.cooperative = true;  // windows take what must not be replayed
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 1);
  counted::state().ranges = 1;
  collector.finish();
}

TEST_F(CollectorsTest, AutoOpensWindowsForWhatIsInGraphsOfAPlainProgram) {
  AutoCollector collector(services, selector, no_framework);
  EXPECT_EQ(collector.by_nodes(data.context, {}), Collector::ByNodes::yes);
  NodeLaunches nodes;
  this_thread().nodes = &nodes;
  EXPECT_TRUE(run(collector, launch(1)));
  this_thread().nodes = nullptr;
  EXPECT_EQ(calls("cuptiProfilerEnableProfiling"), 1);
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(2))) << "a replay";
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 1);
  collector.finish();
}

TEST_F(CollectorsTest, AutoOpensWindowsFirstWhereThereIsAFramework) {
  AutoCollector collector(services, selector, a_framework);
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiProfilerEnableProfiling"), 1);
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
  counted::state().ranges = 1;
  collector.finish();
}

TEST_F(CollectorsTest, AutoReplaysLaunchesThatAFilterPicksOneByOne) {
  capture::Selection selection;
  selection.kernel_id = ":::5";
  const select::Selector picking = select::Selector::compile(selection);
  AutoCollector collector(services, picking, a_framework);
  counted::state().ranges = 1;
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 0);
  EXPECT_EQ(calls("cuptiRangeProfilerStop"), 1);
  EXPECT_EQ(collector.by_nodes(data.context, {}), Collector::ByNodes::no) << "nodes would count as launches";
}

TEST_F(CollectorsTest, AutoOpensWindowsBesideCollectives) {
  AutoCollector collector(services, selector, a_framework);
  function.collective = true;
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(reason_of(1), SkipReason::collective);
  function.collective = false;
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 1);
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
  counted::state().ranges = 1;
  collector.finish();
}

TEST_F(CollectorsTest, AutoReplaysNothingBesideCollectivesOfSeveralGpus) {
  AutoCollector collector(services, selector, no_framework);
  counted::state().devices = 2;
  function.collective = true;
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(reason_of(1), SkipReason::collective);
  function.collective = false;
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiRangeProfilerStart"), 0);
  EXPECT_EQ(calls("cuptiProfilerBeginSession"), 1);
  counted::state().ranges = 1;
  collector.finish();
}

TEST_F(CollectorsTest, SampleBeginsWithTheFirstLaunchThatIsSelected) {
  PmSampling sampling(library, recorder, options,
                      {[] {}, [] { return false; }, [](const auto&) {}, [](const auto&) { return true; }});
  SampleCollector collector(services, sampling);
  Launch other = launch(1, select::Verdict::unmatched);
  EXPECT_FALSE(wants(collector, other));
  EXPECT_EQ(calls("cuptiProfilerInitialize"), 0);
  Launch selected = launch(2);
  EXPECT_FALSE(wants(collector, selected));
  EXPECT_FALSE(wants(collector, selected));
  EXPECT_EQ(calls("cuptiProfilerInitialize"), 1);
  EXPECT_FALSE(collector.takes_turns());
  sampling.finish();
}

TEST_F(CollectorsTest, SampleIsWaitedForWhileItPlans) {
  counted::state().planning = std::chrono::milliseconds(300);
  PmSampling sampling(library, recorder, options,
                      {[] {}, [] { return false; }, [](const auto&) {}, [](const auto&) { return true; }},
                      std::chrono::milliseconds(20));
  SampleCollector collector(services, sampling);
  Launch selected = launch(1);
  EXPECT_FALSE(wants(collector, selected));
  while (calls("cuptiProfilerHostConfigAddMetrics") < 2) std::this_thread::yield();  // the first is of this thread
  sampling.finish();
  EXPECT_GT(calls("cuptiProfilerHostGetNumOfPasses"), 0) << "it was let go amid NVPerf";
}

class SourceCollectorTest : public CollectorsTest {
 protected:
  PcSampling code{library, recorder, std::nullopt, [] {}};
  SassCollector collector{services, code};
};

TEST_F(SourceCollectorTest, CountsOneLaunchOfAConfiguration) {
  EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_TRUE(run(collector, launch(2)));
  EXPECT_EQ(calls("cuptiSassMetricsSetConfig"), 1);
  EXPECT_EQ(calls("cuptiSassMetricsEnable"), 2);
  EXPECT_EQ(calls("cuptiSassMetricsDisable"), 2);
  EXPECT_EQ(calls("cuptiPCSamplingEnable"), 2) << "before each, without which CUPTI patches once only";
  EXPECT_EQ(calls("cuptiPCSamplingDisable"), 2);
  EXPECT_EQ(measured, 2);
}

TEST_F(SourceCollectorTest, LeavesOutWhatCannotBeMadeAlone) {
  function.collective = true;
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(reason_of(1), SkipReason::collective);
}

TEST_F(SourceCollectorTest, OthersWaitForTheLaunchThatIsCounted) { EXPECT_TRUE(collector.takes_turns()); }

TEST_F(SourceCollectorTest, LooksAgainOnceALaunchIsAlone) {
  Launch counting = launch(1);
  ASSERT_TRUE(wants(collector, counting));
  graphs.capture_begins();
  EXPECT_FALSE(collector.enter(counting));
  EXPECT_EQ(reason_of(1), SkipReason::captured);
  EXPECT_EQ(calls("cuptiSassMetricsEnable"), 0);
}

TEST_F(SourceCollectorTest, ALaunchThatTheDriverRefusesIsNoFailure) {
  CUresult refused = CUDA_ERROR_INVALID_VALUE;
  data.functionReturnValue = &refused;
  for (std::uint32_t which = 0; which < 5; ++which) EXPECT_TRUE(run(collector, launch(which)));
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(calls("cuptiSassMetricsDisable"), 5);
}

TEST_F(SourceCollectorTest, TriesWhatIsAlwaysRefusedThreeTimes) {
  CUresult refused = CUDA_ERROR_INVALID_VALUE;
  data.functionReturnValue = &refused;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(run(collector, launch(1)));
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_EQ(reason_of(1), SkipReason::refused);
  EXPECT_TRUE(run(collector, launch(2))) << "another may be launched";
}

TEST_F(SourceCollectorTest, ThreeFailuresInARowEndIt) {
  counted::state().failing = {"cuptiSassMetricsFlushData"};
  for (std::uint32_t which = 0; which < 5; ++which) (void)run(collector, launch(which));
  EXPECT_EQ(calls("cuptiSassMetricsEnable"), 3);
  EXPECT_EQ(calls("cuptiSassMetricsDisable"), 3);
}

TEST_F(CollectorsTest, NoneMeasuresNothing) {
  NoCollector collector;
  EXPECT_FALSE(run(collector, launch(1)));
  EXPECT_FALSE(collector.takes_turns());
  EXPECT_TRUE(counted::state().calls.empty());
}

}  // namespace
}  // namespace dlkprof::inject::collectors_test
