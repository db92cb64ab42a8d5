#include "base/lock_within.h"

#include <gtest/gtest.h>

#include <future>

namespace dlkprof::lock_within_test {
namespace {

using namespace std::chrono_literals;

TEST(LockWithin, TakesWhatIsFreeAtOnce) {
  std::mutex mutex;
  EXPECT_TRUE(lock_within(0s, mutex));
}

TEST(LockWithin, OwnsNothingOfWhatStaysLocked) {
  std::mutex mutex;
  const std::lock_guard held(mutex);
  EXPECT_FALSE(std::async(std::launch::async, [&] { return lock_within(5ms, mutex).owns_lock(); }).get());
}

TEST(LockWithin, WaitsForWhatIsUnlockedInTime) {
  std::mutex mutex;
  std::unique_lock held(mutex);
  auto waits = std::async(std::launch::async, [&] { return lock_within(1h, mutex).owns_lock(); });
  EXPECT_EQ(waits.wait_for(5ms), std::future_status::timeout);
  held.unlock();
  EXPECT_TRUE(waits.get());
}

}  // namespace
}  // namespace dlkprof::lock_within_test
