// A mutex that is waited for so long and no longer. By trying: ThreadSanitizer of clang 16 does not know
// pthread_mutex_clocklock, by which std::timed_mutex waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

namespace dlkprof {

// The lock owns nothing where the mutex was not free in time. Tries more and more rarely.
template <class Mutex>
[[nodiscard]] std::unique_lock<Mutex> lock_within(std::chrono::steady_clock::duration longest, Mutex& mutex) {
  constexpr std::chrono::microseconds kFirstPause(20), kLongestPause(1000);
  std::unique_lock lock(mutex, std::try_to_lock);
  auto pause = kFirstPause;
  for (const auto until = std::chrono::steady_clock::now() + longest;
       !lock.owns_lock() && std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    (void)lock.try_lock();
  }
  return lock;
}

}  // namespace dlkprof
