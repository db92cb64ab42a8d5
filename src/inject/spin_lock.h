// A lock that its thread takes at every NVTX call and others hardly ever: half the price of a std::mutex, which has to look
// for those that wait when it is released.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/uncancelled.h"

namespace dlkprof::inject {

class SpinLock {
 public:
  void lock() noexcept {
    if (locked_.test_and_set(std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { locked_.clear(std::memory_order_release); }

 private:
  // Kept out of the way of what is done under the lock.
  [[gnu::cold, gnu::noinline]] void wait() noexcept {
    const Uncancelled whole;
    for (int tries = 0; locked_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries < kYields) {
        std::this_thread::yield();
      } else {  // its holder may have a lower priority, and not come to run while we do
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  static constexpr int kYields = 100;
  std::atomic_flag locked_;
};

}  // namespace dlkprof::inject
