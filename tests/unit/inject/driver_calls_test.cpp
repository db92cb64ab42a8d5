#include "inject/session/driver_calls.h"

#include <gtest/gtest.h>

namespace dlkprof::inject::driver_calls_test {
namespace {

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

  cupti::Functions functions_;
};

TEST_F(DriverCallsTest, GraphsAndCapturesWaitWhereverLaunchesAreMadeAlone) {
  for (const auto id : {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2}) {
    EXPECT_TRUE(waits({.replays = true}, id));
    EXPECT_TRUE(waits({.windows = true}, id));
    EXPECT_TRUE(waits({.counts_instructions = true}, id)) << "a kernel beside patched code, or a capture that bears no waiting";
    EXPECT_FALSE(waits({.timeline = true, .loaded_modules = true}, id));
  }
}

TEST_F(DriverCallsTest, CopiesWaitForReplaysAlone) {
  constexpr auto kCopy = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2;
  EXPECT_TRUE(waits({.replays = true}, kCopy));
  EXPECT_FALSE(waits({.timeline = true, .windows = true, .counts_instructions = true}, kCopy));
}

}  // namespace
}  // namespace dlkprof::inject::driver_calls_test
