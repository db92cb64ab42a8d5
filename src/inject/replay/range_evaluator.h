// Turns the counters of windows into values of launches, on a thread of its own: evaluating a launch takes as long as measuring
// it. Ranges of a plan of one pass are evaluated as they come. Of a plan of several passes those of one launch configuration are
// kept until it has every pass (partial_counters.h), and then added up. Thread-safe but for finish(), after which nothing may be
// given any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cupti/counter_combiner.h"
#include "cupti/host.h"
#include "cupti/range_profiler.h"
#include "inject/replay/partial_counters.h"

namespace dlkprof::inject {

class RangeEvaluator {
 public:
  // `on_values` gets each sample with its values, and `on_failure` what went wrong; on the evaluator's thread.
  struct Listener {
    std::function<void(MeasuredLaunch&&)> on_values;
    std::function<void(const std::exception&)> on_failure;
  };
  struct Stage {
    std::vector<std::string> metrics;
    std::size_t passes = 1;
    std::uint32_t metric_set = 0;
    std::vector<std::uint8_t> empty_image;  // for one range; of a plan of several passes
  };
  struct Window {
    cupti::RangeProfiler::Image image;  // a range a launch; not written while it is evaluated
    std::size_t stage = 0, pass = 0;
    std::vector<MeasuredLaunch> launches;  // in the order of the ranges
  };
  // `most_bytes`: of counters that wait for further passes. Throws Error where several passes cannot be put together.
  RangeEvaluator(const cupti::Library& library, std::string chip, std::vector<std::uint8_t> availability,
                 std::vector<Stage> stages, std::size_t most_bytes, Listener listener);
  RangeEvaluator(const RangeEvaluator&) = delete;
  RangeEvaluator& operator=(const RangeEvaluator&) = delete;
  ~RangeEvaluator() { finish(); }

  // While it is busy nothing may be given: kMostWindows wait or are evaluated.
  [[nodiscard]] bool busy() const noexcept { return windows_.load(std::memory_order_acquire) >= kMostWindows; }
  void give(Window window);
  void wait_for_room();
  // Waits for what was given, and gives what configurations have that did not get all passes.
  void finish() noexcept;

  using GpuTime = std::pair<Ledger::Entry, std::uint64_t>;  // in ns, of a launch
  [[nodiscard]] std::vector<GpuTime> take_gpu_times();
  // Configurations whose counters were given up for lack of memory.
  [[nodiscard]] std::size_t given_up() const noexcept { return given_up_; }

 private:
  static constexpr std::size_t kMostWindows = 2;
  class Worker;
  struct Shared {  // what the worker works with; constant
    const cupti::Library& library;
    const std::string chip;
    const std::vector<std::uint8_t> availability;
    const std::vector<Stage> stages;
    const std::size_t most_bytes;
    const Listener listener;
  };
  void run() noexcept;
  void note_gpu_time(Ledger::Entry entry, double ns);
  void work(Worker& worker, Window window) noexcept;

  const Shared shared_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Window> waiting_;
  std::vector<GpuTime> gpu_times_;
  bool stopping_ = false;
  std::atomic<std::size_t> windows_{0}, given_up_{0};
  std::thread thread_;
};

}  // namespace dlkprof::inject
