#include "inject/session/driver_calls.h"

#include <gtest/gtest.h>

namespace dlkprof::inject::driver_calls_test {
namespace {

using capture::Collect;

CUptiResult name_of(CUpti_CallbackDomain /*domain*/, std::uint32_t id, const char** name) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      *name = "cuGraphLaunch";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
      *name = "cuStreamBeginCapture_v2";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2:
      *name = "cuMemcpyHtoD_v2";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2:
      *name = "cuStreamWriteValue32_v2";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuEventCreate:
      *name = "cuEventCreate";
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz:
      *name = "cuEventRecordWithFlags_ptsz";
      break;
    default:
      *name = nullptr;
  }
  return CUPTI_SUCCESS;
}

class DriverCallsTest : public testing::Test {
 protected:
  DriverCallsTest() { functions_.cuptiGetCallbackName = name_of; }
  [[nodiscard]] bool waits(const DriverCalls::Wanted& wanted, CUpti_CallbackId id) const {
    const cupti::Library library = cupti::Library::from(functions_);
    return DriverCalls(library, wanted).is_gated(id);
  }

  [[nodiscard]] bool is_of_values(CUpti_CallbackId id) const {
    const cupti::Library library = cupti::Library::from(functions_);
    return DriverCalls(library, {.collect = Collect::automatic}).is_of_values(id);
  }

  cupti::Functions functions_;
};

TEST_F(DriverCallsTest, GraphsAndCapturesWaitWhereverLaunchesAreMadeAlone) {
  for (const auto id : {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2}) {
    for (const auto collect : {Collect::kernel, Collect::iteration, Collect::automatic})
      EXPECT_TRUE(waits({.collect = collect}, id));
    EXPECT_TRUE(waits({.collect = Collect::source}, id)) << "a kernel beside patched code, or a capture that bears no waiting";
    for (const auto collect : {Collect::none, Collect::sample}) EXPECT_FALSE(waits({.timeline = true, .collect = collect}, id));
  }
}

TEST_F(DriverCallsTest, WhatWritesToMemoryWaitsForReplaysAlone) {
  for (const auto id : {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2}) {
    for (const auto collect : {Collect::kernel, Collect::automatic}) EXPECT_TRUE(waits({.collect = collect}, id));
    for (const auto collect : {Collect::none, Collect::iteration, Collect::sample, Collect::source}) {
      EXPECT_FALSE(waits({.timeline = true, .collect = collect}, id));
    }
  }
}

TEST_F(DriverCallsTest, KnowsWhatWritesValuesThatStreamsWaitFor) {
  EXPECT_TRUE(is_of_values(CUPTI_DRIVER_TRACE_CBID_cuStreamWriteValue32_v2));
  EXPECT_FALSE(is_of_values(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2));
}

TEST_F(DriverCallsTest, HearsOfEventsWhereWindowsAreWanted) {
  using enum DriverCalls::OfEvent;
  const cupti::Library library = cupti::Library::from(functions_);
  for (const auto collect : {Collect::iteration, Collect::automatic}) {
    const DriverCalls calls(library, {.collect = collect});
    EXPECT_EQ(calls.of_event(CUPTI_DRIVER_TRACE_CBID_cuEventCreate), creates);
    EXPECT_EQ(calls.of_event(CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz), records);
    EXPECT_EQ(calls.of_event(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch), nothing);
  }
  EXPECT_EQ(DriverCalls(library, {.collect = Collect::kernel}).of_event(CUPTI_DRIVER_TRACE_CBID_cuEventCreate), nothing);
}

}  // namespace
}  // namespace dlkprof::inject::driver_calls_test
