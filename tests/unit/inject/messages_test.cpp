#include "inject/session/messages.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace dlkprof::inject::messages_test {
namespace {

using capture::Severity;

// What stderr gets while `speak` runs.
template <typename Speak>
std::string said(Speak&& speak) {
  testing::internal::CaptureStderr();
  speak();
  return testing::internal::GetCapturedStderr();
}

TEST(Messages, SaysEachThingOnce) {
  Messages messages(false);
  EXPECT_EQ(said([&] { EXPECT_TRUE(messages.say(Severity::error, "once", "detail", "remedy")); }),
            "dlkprof: once: detail\n  remedy\n");
  EXPECT_EQ(said([&] { EXPECT_FALSE(messages.say(Severity::error, "once", "detail", "remedy")); }), "");
  EXPECT_EQ(said([&] { EXPECT_TRUE(messages.say(Severity::error, "once", "another detail", "")); }),
            "dlkprof: once: another detail\n");
}

TEST(Messages, QuietKeepsErrors) {
  Messages messages(true);
  EXPECT_EQ(said([&] { EXPECT_TRUE(messages.say(Severity::warning, "quiet warning", "", "")); }), "");
  EXPECT_EQ(said([&] { EXPECT_TRUE(messages.say(Severity::error, "loud error", "", "")); }), "dlkprof: loud error\n");
}

TEST(Messages, InformationIsForTheCaptureOnly) {
  EXPECT_EQ(said([] { EXPECT_TRUE(Messages(false).say(Severity::info, "by the way", "", "")); }), "");
}

TEST(Messages, TextFromElsewhereCannotDriveTheTerminal) {
  EXPECT_EQ(said([] { (void)Messages(false).say(Severity::error, "name", "a\x1b[2Jb\nc", ""); }),
            "dlkprof: name: a\\x1b[2Jb\\x0ac\n");
}

TEST(Messages, StartupFailureSaysThatTheProgramRunsOn) {
  const auto text = said([] { say_startup_failure(Error("no start", "", "")); });
  EXPECT_EQ(text, "dlkprof: no start\n  The program runs on without profiling.\n");
}

TEST(Messages, ThreadsSayItOnceTogether) {
  std::atomic<int> new_ones{0};
  const auto text = said([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { new_ones += Messages(false).say(Severity::error, "all at once", "", "") ? 1 : 0; });
    }
    for (auto& thread : threads) thread.join();
  });
  EXPECT_EQ(new_ones, 1);
  EXPECT_EQ(text, "dlkprof: all at once\n");
}

TEST(Messages, WaitWhileTheProcessForks) {
  std::atomic<bool> spoken{false};
  Messages::lock();
  std::thread speaker([&] {
    (void)Messages(true).say(Severity::info, "beside a fork", "", "");
    spoken = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(spoken);
  Messages::unlock();
  speaker.join();
  EXPECT_TRUE(spoken);
}

}  // namespace
}  // namespace dlkprof::inject::messages_test
