#include "inject/session/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace dlkprof::inject::gate_test {
namespace {

// Threads that take the gate, one after the other and beside one another, and give it back at once.
class Launching {
 public:
  Launching(Gate& gate, int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &gate] {
        while (!done_) {
          gate.lock_shared();
          ++launches_;
          gate.unlock_shared();
        }
      });
    }
    while (launches_ < threads) std::this_thread::yield();
  }
  ~Launching() {
    done_ = true;
    for (auto& thread : threads_) thread.join();
  }
  Launching(const Launching&) = delete;
  Launching& operator=(const Launching&) = delete;
  [[nodiscard]] long launches() const { return launches_; }

 private:
  std::atomic<bool> done_{false};
  std::atomic<long> launches_{0};
  std::vector<std::thread> threads_;
};

bool hold_alone(Gate& gate) {
  auto lock = gate.alone_within(std::chrono::minutes(1));
  const bool held = lock.owns_lock();
  (void)lock.release();
  return held;
}

TEST(Gate, WhoIsToBeAloneComesBeforeThoseThatShareIt) {
  constexpr int kTimes = 20;
  constexpr long kMost = 2000;  // in the median; while one starves it is tens of thousands
  Gate gate;
  const Launching launching(gate, 3);
  std::vector<long> meanwhile;
  for (int i = 0; i < kTimes; ++i) {
    const long before = launching.launches();
    ASSERT_TRUE(hold_alone(gate));
    meanwhile.push_back(launching.launches() - before);
    gate.unlock();
    const long after = launching.launches();
    while (launching.launches() < after + 10) std::this_thread::yield();
  }
  std::sort(meanwhile.begin(), meanwhile.end());
  EXPECT_LT(meanwhile[kTimes / 2], kMost);
}

TEST(Gate, WhoSharesItWaitsForNoneThatWaitsForAnother) {
  Gate gate;
  gate.lock_shared();
  std::thread alone([&] {
    if (hold_alone(gate)) gate.unlock();
  });
  while (!gate.is_waited_for()) std::this_thread::yield();
  std::thread other([&] {  // what this one may be waiting for
    for (int i = 0; i < 10; ++i) {
      gate.lock_shared();
      gate.unlock_shared();
    }
  });
  other.join();
  gate.unlock_shared();
  alone.join();
}

TEST(Gate, WaitsToBeAloneNoLongerThanItIsTo) {
  Gate gate;
  gate.lock_shared();
  EXPECT_FALSE(gate.alone_within(std::chrono::milliseconds(5)));
  EXPECT_FALSE(gate.is_waited_for());
  gate.unlock_shared();
  EXPECT_TRUE(gate.alone_within(std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace dlkprof::inject::gate_test
