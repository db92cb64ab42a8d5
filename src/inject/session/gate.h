// The session's gate: shared by what is in the driver, held alone by a launch that is being measured. std::shared_mutex lets who
// shares go first, so who is to be alone would wait for as long as other threads launch one after the other: those pause for a
// while where somebody waits. Not for ever, as who holds the gate may be in a call that ends only after a launch of theirs.
#pragma once

#include <atomic>
#include <chrono>
#include <shared_mutex>
#include <thread>

namespace dlkprof::inject {

class Gate {
 public:
  void lock() {
    ++waiting_;
    mutex_.lock();
    --waiting_;
  }
  [[nodiscard]] bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    if (waiting_.load(std::memory_order_relaxed) > 0) pause();
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  void pause() const {
    constexpr auto kLongest = std::chrono::milliseconds(2);  // of one launch
    constexpr auto kBetweenLooks = std::chrono::microseconds(20);
    const auto until = std::chrono::steady_clock::now() + kLongest;
    while (waiting_.load(std::memory_order_relaxed) > 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  std::shared_mutex mutex_;
  std::atomic<int> waiting_{0};  // to be alone
};

}  // namespace dlkprof::inject
