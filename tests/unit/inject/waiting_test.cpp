// Waiting for what was launched before, which may wait for the program.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "inject/session/collector_services.h"
#include "support/temporary_directory.h"
#include "unit/inject/counted_functions.h"

namespace dlkprof::inject::waiting_test {
namespace {

using std::chrono::milliseconds;

constexpr int kNever = std::numeric_limits<int>::max();

class WaitingTest : public ::testing::Test {
 protected:
  WaitingTest() {
    counted::state() = {};
    options.output_directory = folder.path().string();
    options.quiet = true;
  }
  GpuWait wait_for_gpu(bool once) { return {driver, services.vain_waits(), context, false, GpuWait::kFirst, once}; }
  int calls(const char* name) { return counted::state().calls[name]; }

  test::TemporaryDirectory folder;
  capture::ProfileOptions options;
  const cupti::Library library = counted::library();
  const cupti::Driver driver = counted::driver();
  const CUcontext context = reinterpret_cast<CUcontext>(this);
  Recorder recorder{options, 24, 13000};
  Ledger ledger;
  EventLog log{recorder};
  Timeline timeline{log};
  GraphWatch graphs{driver};
  CollectorServices services{{options, library, driver, recorder, ledger, timeline, graphs, [] {}, [] {}}};
};

TEST_F(WaitingTest, AnEventIsAskedUntilItIsDone) {
  counted::state().queries_till_done = 3;
  EXPECT_TRUE(cupti::ContextEvent(driver, context).is_done_within(std::chrono::minutes(10)));
  EXPECT_EQ(calls("cuEventQuery"), 4);
  EXPECT_EQ(calls("cuEventDestroy"), 1);
  EXPECT_EQ(calls("cuCtxSynchronize"), 0) << "which has no limit";
}

TEST_F(WaitingTest, AnEventIsWaitedForNoLongerThanItIsTo) {
  counted::state().queries_till_done = kNever;
  const cupti::ContextEvent event(driver, context);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(event.is_done_within(milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(20));
  counted::state().calls.clear();
  EXPECT_FALSE(event.is_done_within({}));
  EXPECT_EQ(calls("cuEventQuery"), 1);
}

TEST_F(WaitingTest, OtherGpusOfTheProcessAreAskedWhereTheyAreTo) {
  counted::state().devices = 3;
  EXPECT_TRUE(GpuEvents(driver, context, false).are_done_within({}));
  EXPECT_EQ(calls("cuCtxRecordEvent"), 1);
  counted::state().calls.clear();
  EXPECT_TRUE(GpuEvents(driver, context, true).are_done_within({}));
  EXPECT_EQ(calls("cuCtxRecordEvent"), 1 + 3);
}

TEST_F(WaitingTest, WhatCannotBeAskedIsTakenToBeDone) {
  for (const char* name : {"cuCtxRecordEvent", "cuEventQuery", "cuEventCreate"}) {
    counted::state().failing = {name};
    EXPECT_TRUE(GpuEvents(driver, context, true).are_done_within({})) << name;
  }
  EXPECT_EQ(calls("cuEventDestroy"), 1 + 2 + 0) << "all that were made";
}

TEST_F(WaitingTest, AskedAgainWhatOthersLaunchedMeanwhileIsWaitedForToo) {
  GpuWait wait = wait_for_gpu(false);
  counted::state().queries_till_done = kNever;
  EXPECT_FALSE(wait.is_done());
  EXPECT_TRUE(wait.goes_on());
  EXPECT_EQ(calls("cuCtxRecordEvent"), 1);
  EXPECT_FALSE(wait.is_done());
  EXPECT_EQ(calls("cuCtxRecordEvent"), 1) << "a stream that is stuck takes but so many";
  counted::state().queries_till_done = 0;
  EXPECT_TRUE(wait.is_done());
  EXPECT_EQ(calls("cuCtxRecordEvent"), 2);
  EXPECT_FALSE(services.vain_waits().are_going_on());
}

TEST_F(WaitingTest, WhatIsStillNotDoneIsNotWaitedForOnceMore) {
  counted::state().queries_till_done = kNever;
  EXPECT_FALSE(wait_for_gpu(true).is_done());
  EXPECT_TRUE(services.vain_waits().are_going_on());
  counted::state().calls.clear();
  GpuWait second = wait_for_gpu(false);
  EXPECT_FALSE(second.is_done());
  EXPECT_FALSE(second.goes_on());
  EXPECT_EQ(calls("cuEventQuery"), 1);
  EXPECT_EQ(calls("cuCtxRecordEvent"), 0);
  counted::state().queries_till_done = 0;
  EXPECT_TRUE(wait_for_gpu(false).is_done());
}

TEST_F(WaitingTest, AContextThatEndsTakesItsEventsAlong) {
  counted::state().queries_till_done = kNever;
  EXPECT_FALSE(wait_for_gpu(true).is_done());
  services.vain_waits().forget();
  EXPECT_EQ(calls("cuEventDestroy"), 1);
  EXPECT_FALSE(services.vain_waits().are_going_on());
}

TEST_F(WaitingTest, AfterTenWaitsInVainNothingIsMadeAlone) {
  for (int i = 0; i < VainWaits::kMost - 1; ++i) services.vain_waits().add(nullptr);
  EXPECT_FALSE(services.waits_for_program());
  services.vain_waits().add(nullptr);
  EXPECT_TRUE(services.waits_for_program());
  KernelFunction function;
  const capture::DeviceRecord device;
  const CUpti_CallbackData data{};
  const LaunchCall call;
  const Launch launch{.call = call, .data = data, .function = &function, .device = &device, .entry = 0};
  EXPECT_EQ(services.reason_against(launch), capture::SkipReason::values);
  EXPECT_FALSE(services.vain_waits().are_too_many()) << "what is held is still to be given back";
}

}  // namespace
}  // namespace dlkprof::inject::waiting_test
