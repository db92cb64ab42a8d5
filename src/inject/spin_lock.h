// A lock that its thread takes at every NVTX call and others hardly ever: half the price of a std::mutex, which has to look
// for those that wait when it is released. It knows whether its own thread holds it: a signal handler that interrupts that thread
// amid a call, and makes one itself, would wait for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/unnoticed.h"

namespace dlkprof::inject {

class SpinLock {
 public:
  // From another thread.
  void lock() noexcept {
    if (!take(kByAnother)) wait(kByAnother);
  }
  // From its own: false where it holds the lock already.
  [[nodiscard]] bool lock_own() noexcept {
    if (take(kByOwner)) [[likely]]
      return true;
    if (holder_.load(std::memory_order_relaxed) == kByOwner) return false;
    wait(kByOwner);
    return true;
  }
  // The same, but it never waits: GCC takes what follows a wait for as cold as the wait, and puts it far away.
  [[nodiscard]] bool try_lock_own() noexcept { return take(kByOwner); }
  void unlock() noexcept { holder_.store(kFree, std::memory_order_release); }

 private:
  static constexpr std::uint8_t kFree = 0, kByOwner = 1, kByAnother = 2;

  [[nodiscard]] bool take(std::uint8_t holder) noexcept {
    std::uint8_t free = kFree;
    return holder_.compare_exchange_strong(free, holder, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // Kept out of the way of what is done under the lock.
  [[gnu::cold, gnu::noinline]] void wait(std::uint8_t holder) noexcept {
    const Unnoticed whole;
    for (int tries = 0; !take(holder); ++tries) {
      if (tries < kYields) {
        std::this_thread::yield();
      } else {  // its holder may have a lower priority, and not come to run while we do
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  static constexpr int kYields = 100;
  std::atomic<std::uint8_t> holder_{kFree};
};

// Holds it for its own thread, where that does not hold it already.
class OwnLock {
 public:
  explicit OwnLock(SpinLock& lock) noexcept : lock_(lock.lock_own() ? &lock : nullptr) {}
  OwnLock(SpinLock& lock, std::try_to_lock_t) noexcept : lock_(lock.try_lock_own() ? &lock : nullptr) {}
  OwnLock(const OwnLock&) = delete;
  OwnLock& operator=(const OwnLock&) = delete;
  ~OwnLock() {
    if (lock_ != nullptr) lock_->unlock();
  }
  [[nodiscard]] explicit operator bool() const noexcept { return lock_ != nullptr; }

 private:
  SpinLock* lock_;
};

}  // namespace dlkprof::inject
