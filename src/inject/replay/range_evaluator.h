// Turns the counters of windows into values of launches, on a thread of its own: evaluating a launch takes as long as measuring
// it. Ranges of a plan of one pass are evaluated as they come. Of a plan of several passes those of one launch configuration are
// kept until it has every pass (partial_counters.h), and then added up; for that no window waits, as its image is emptied before.
// Thread-safe but for finish(), after which nothing may be given any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cupti/counter_combiner.h"
#include "cupti/host.h"
#include "cupti/reusable_image.h"
#include "inject/replay/partial_counters.h"
#include "inject/worker_thread.h"

namespace dlkprof::inject {

class RangeEvaluator {
 public:
  // `on_values` gets each sample with its values, and `on_failure` what went wrong; on the evaluator's thread.
  struct Listener {
    std::function<void(MeasuredLaunch&&)> on_values;
    std::function<void(const std::exception&)> on_failure;
  };
  struct Plan {
    std::vector<std::string> metrics;
    std::size_t passes = 1;
    std::uint32_t metric_set = 0;
  };
  struct Window {
    std::shared_ptr<cupti::ReusableImage> image;  // a range a launch; emptied once all are evaluated or kept
    std::size_t plan = 0, pass = 0;
    std::vector<MeasuredLaunch> launches;  // in the order of the ranges
  };
  // `empty_image`: for one range of any plan. `most_bytes`: of counters that wait for further passes. Throws Error where several
  // passes cannot be put together.
  RangeEvaluator(const cupti::Library& library, std::string chip, std::vector<std::uint8_t> availability, std::vector<Plan> plans,
                 std::vector<std::uint8_t> empty_image, std::size_t most_bytes, Listener listener);
  RangeEvaluator(const RangeEvaluator&) = delete;
  RangeEvaluator& operator=(const RangeEvaluator&) = delete;
  ~RangeEvaluator() { finish(); }

  // Only once there is room: there is one image.
  void give(Window window);
  void wait_for_room();
  // Waits for what was given, and gives what configurations have that did not get all passes.
  void finish() noexcept;

  // Configurations whose counters were given up for lack of memory.
  [[nodiscard]] std::size_t given_up() const noexcept { return given_up_; }

 private:
  class Worker;
  struct Shared {  // what the worker works with; constant
    const cupti::Library& library;
    const std::string chip;
    const std::vector<std::uint8_t> availability;
    const std::vector<Plan> plans;
    const std::vector<std::uint8_t> empty_image;
    const std::size_t most_bytes;
    const Listener listener;
  };
  void run() noexcept;
  [[nodiscard]] std::optional<Window> next_window(bool wait);
  void read(Worker& worker, Window window) noexcept;

  const Shared shared_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Window> window_;  // given, and not taken yet
  bool busy_ = false;             // one is there, or being read
  bool stopping_ = false;
  std::atomic<std::size_t> given_up_{0};
  WorkerThread thread_;
};

}  // namespace dlkprof::inject
