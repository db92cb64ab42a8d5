#include "inject/session/recorder.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dlkprof::inject::recorder_test {
namespace {

capture::ProfileOptions into_a_folder_that_is_not_there() {
  capture::ProfileOptions options;
  options.output_directory = "/no/such/folder";
  return options;
}

// Another thread may end the process as soon as it sees that the capture has failed.
TEST(Recorder, SaysWhatEndsTheCaptureBeforeTheCallerDoes) {
  const auto options = into_a_folder_that_is_not_there();
  Recorder recorder(options, 0, 0);
  testing::internal::CaptureStderr();
  EXPECT_THROW(recorder.append(capture::ClockRecord{}), Error);
  EXPECT_EQ(testing::internal::GetCapturedStderr().rfind("dlkprof: profiling has ended, the program runs on: ", 0), 0U);
  EXPECT_FALSE(recorder.usable());
}

TEST(Recorder, SaysNoMoreOnceTheCaptureHasFailed) {
  const auto options = into_a_folder_that_is_not_there();
  Recorder recorder(options, 0, 0);
  testing::internal::CaptureStderr();
  EXPECT_THROW(recorder.append(capture::ClockRecord{}), Error);
  (void)testing::internal::GetCapturedStderr();

  testing::internal::CaptureStderr();
  EXPECT_THROW(recorder.append(capture::ClockRecord{}), Error);
  recorder.note("the timeline ends here", Error("cannot write", "", ""));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace dlkprof::inject::recorder_test
