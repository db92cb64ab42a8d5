// The session's gate: shared by what is in the driver, held alone by a launch that is being measured. std::shared_mutex lets who
// shares go first, so who is to be alone would wait for as long as other threads launch one after the other: those pause where
// somebody waits. Not for ever, as who holds the gate may be in a call that ends only after a call of theirs; so beside one that
// takes long, a copy, their calls take up to kLongestPause more each.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "base/lock_within.h"

namespace dlkprof::inject {

class Gate {
 public:
  static constexpr auto kLongestPause = std::chrono::milliseconds(2);

  [[nodiscard]] bool try_lock() { return mutex_.try_lock(); }
  // The lock owns nothing where it could not be held alone in time.
  [[nodiscard]] std::unique_lock<Gate> alone_within(std::chrono::steady_clock::duration longest) {
    const Waiting waiting(waiting_);
    return lock_within(longest, *this);
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    if (is_waited_for()) pause();
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }
  // Whether somebody is to be alone.
  [[nodiscard]] bool is_waited_for() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }

 private:
  class Waiting {
   public:
    explicit Waiting(std::atomic<int>& count) : count_(count) { ++count_; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { --count_; }

   private:
    std::atomic<int>& count_;
  };

  void pause() const {
    constexpr auto kBetweenLooks = std::chrono::microseconds(20);
    const auto until = std::chrono::steady_clock::now() + kLongestPause;
    while (is_waited_for() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kBetweenLooks);
  }

  std::shared_mutex mutex_;
  std::atomic<int> waiting_{0};  // to be alone
};

}  // namespace dlkprof::inject
