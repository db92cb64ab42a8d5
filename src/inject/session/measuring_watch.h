// Tells of a launch that is measured and does not come back. A kernel that waits for what the program does after launching it (a
// flag that the CPU sets, a kernel that is launched later) never ends then, as measuring waits for its end within the launch: so
// it is under Nsight Compute. Only the user can end that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <semaphore>
#include <string>
#include <utility>

#include "inject/worker_thread.h"

namespace dlkprof::inject {

class MeasuringWatch {
 public:
  static constexpr std::chrono::seconds kLongest{30};  // ours: more than setting up counters and most replays take

  // `tell` is called once in all, on a thread of the watch's own, with the name that begins() had.
  MeasuringWatch(std::chrono::nanoseconds longest, std::function<void(const std::string&)> tell)
      : longest_(longest), tell_(std::move(tell)) {}
  MeasuringWatch(const MeasuringWatch&) = delete;
  MeasuringWatch& operator=(const MeasuringWatch&) = delete;
  ~MeasuringWatch() { stop(); }

  // A launch is measured; one at a time. `kernel` outlives the watch.
  void begins(const std::string& kernel) noexcept;
  void ends() noexcept { launches_.fetch_add(1, std::memory_order_release); }
  // Nothing is measured any more, ever.
  void stop() noexcept;
  // In a forked child, which has no such thread, and where no launch is measured yet.
  void forget() noexcept {
    thread_.forget();
    launches_ = 0;
  }

 private:
  void run();

  const std::chrono::nanoseconds longest_;
  const std::function<void(const std::string&)> tell_;
  std::atomic<std::uint64_t> launches_{0};  // that began and that ended: odd while one is measured
  std::atomic<const std::string*> kernel_{nullptr};
  std::counting_semaphore<> stop_{0};  // a lock could be held when the program forks
  WorkerThread thread_;
};

}  // namespace dlkprof::inject
