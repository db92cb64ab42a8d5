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

TEST(Gate, WhoIsToBeAloneComesBeforeThoseThatShareIt) {
  constexpr int kTimes = 20;
  constexpr long kMost = 2000;  // in the median; while one starves it is tens of thousands
  Gate gate;
  const Launching launching(gate, 3);
  std::vector<long> meanwhile;
  for (int i = 0; i < kTimes; ++i) {
    const long before = launching.launches();
    gate.lock();
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
    gate.lock();
    gate.unlock();
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

}  // namespace
}  // namespace dlkprof::inject::gate_test
