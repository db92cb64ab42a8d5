// Turns the counters of measured launches into values, on a thread of its own: evaluating a launch takes longer than
// measuring it. Thread-safe but for finish(), after which nothing may be given any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cupti/host.h"
#include "cupti/range_profiler.h"
#include "dlkprof/capture_format.h"
#include "inject/session/ledger.h"

namespace dlkprof::inject {

struct MeasuredLaunch {
  capture::LaunchRecord record;  // without its values until it is evaluated
  Ledger::Entry entry = 0;
  std::uint64_t wanted = 0;  // samples of its configuration; 0: this launch is none of them
};

class LaunchEvaluator {
 public:
  // `on_values` gets each wanted launch with its values, and `on_failure` what went wrong; on the evaluator's thread.
  struct Listener {
    std::function<void(MeasuredLaunch&&)> on_values;
    std::function<void(const std::exception&)> on_failure;
  };
  LaunchEvaluator(const cupti::Library& library, std::string chip, std::vector<std::uint8_t> availability,
                  std::vector<std::string> metrics, Listener listener);
  LaunchEvaluator(const LaunchEvaluator&) = delete;
  LaunchEvaluator& operator=(const LaunchEvaluator&) = delete;
  ~LaunchEvaluator() { finish(); }

  struct Job {
    cupti::RangeProfiler::Image image;     // a range a launch; not written while it is evaluated
    std::vector<MeasuredLaunch> launches;  // in the order of the ranges
  };
  // While it is busy nothing may be given.
  [[nodiscard]] bool busy() const noexcept { return busy_.load(std::memory_order_acquire); }
  void give(Job job);
  void wait_until_idle();
  // Waits for what was given.
  void finish() noexcept;

 private:
  void run() noexcept;
  void evaluate(const cupti::Host& host, Job job);

  const cupti::Library& library_;
  const std::string chip_;
  const std::vector<std::uint8_t> availability_;
  const std::vector<std::string> metrics_;
  const Listener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> job_;
  bool stopping_ = false;
  std::atomic<bool> busy_{false};
  std::thread thread_;
};

}  // namespace dlkprof::inject
