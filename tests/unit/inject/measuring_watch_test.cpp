// What is told of launches that are measured and do not come back.
#include "inject/session/measuring_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace dlkprof::inject::measuring_watch_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class MeasuringWatchTest : public ::testing::Test {
 protected:
  // Counts what `watch` tells.
  [[nodiscard]] auto counting() {
    return [this](const std::string& kernel) {
      EXPECT_EQ(kernel, waiting);
      ++told;
    };
  }
  // False where that takes longer than any machine.
  [[nodiscard]] bool is_told() const {
    const auto until = steady_clock::now() + std::chrono::minutes(1);
    while (told == 0 && steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
    return told > 0;
  }

  const std::string waiting = "wait_for", working = "work";
  std::atomic<int> told{0};
};

TEST_F(MeasuringWatchTest, TellsOfALaunchThatDoesNotComeBackOnce) {
  MeasuringWatch watch(milliseconds(30), counting());
  watch.begins(working);
  watch.ends();
  watch.begins(waiting);
  EXPECT_TRUE(is_told());
  watch.ends();
  watch.begins(waiting);
  std::this_thread::sleep_for(milliseconds(90));
  watch.stop();
  EXPECT_EQ(told, 1);
}

TEST_F(MeasuringWatchTest, TellsNothingOfManyLaunches) {
  MeasuringWatch watch(std::chrono::minutes(1), counting());
  for (int i = 0; i < 1000; ++i) {
    watch.begins(waiting);
    watch.ends();
  }
  watch.stop();
  watch.stop();
  EXPECT_EQ(told, 0);
}

TEST_F(MeasuringWatchTest, TellsNothingBetweenLaunches) {
  MeasuringWatch watch(milliseconds(200), counting());
  watch.begins(waiting);
  watch.ends();
  std::this_thread::sleep_for(milliseconds(500));
  watch.stop();
  EXPECT_EQ(told, 0);
}

TEST_F(MeasuringWatchTest, TellsNothingOnceItWasStopped) {
  MeasuringWatch watch(milliseconds(30), counting());
  watch.begins(waiting);
  watch.ends();
  watch.stop();
  watch.begins(waiting);
  std::this_thread::sleep_for(milliseconds(90));
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace dlkprof::inject::measuring_watch_test
