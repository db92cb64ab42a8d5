// Measures the launches of one context as the program makes them: nothing is replayed, saved or restored. A window of the range
// profiler holds one pass over some launches, each of them a range; what several windows counted of one launch configuration is
// put together (pass_scheduler.h, range_evaluator.h). Works with kernels that wait for one another across the grid or across
// GPUs.
//
// In a window launches run one after another, and the order of the ranges is that in which they are made. So the caller
// lets no two launches be in the driver at once. Not thread-safe. The context must be current.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/options.h"
#include "cupti/activity.h"
#include "cupti/counter_turn.h"
#include "cupti/host.h"
#include "cupti/range_profiler.h"
#include "inject/replay/pass_scheduler.h"
#include "inject/replay/range_evaluator.h"

namespace dlkprof::inject {

class PassWindows {
 public:
  struct Stage {
    cupti::CollectionPlan plan;
    std::vector<std::string> unavailable;
    std::uint32_t metric_set = 0;
  };
  // Sets up counters for `context`, for those of `options` that tell what is to be measured: options.metrics, and before them
  // options.first_metrics where these take one pass and the others more. Stages have metric sets from `first_metric_set` on.
  // Throws Error (permission, busy, unsupported, no metric).
  PassWindows(const cupti::Library& library, CUcontext context, const capture::DeviceRecord& device,
              const capture::ProfileOptions& options, std::uint32_t first_metric_set, RangeEvaluator::Listener listener);

  [[nodiscard]] std::span<const Stage> stages() const noexcept { return stages_; }
  [[nodiscard]] const PassScheduler& scheduler() const noexcept { return *scheduler_; }
  [[nodiscard]] bool window_open() const noexcept { return window_open_; }
  // Wall-clock time in windows and around them.
  [[nodiscard]] std::chrono::nanoseconds spent() const noexcept { return spent_; }
  // Configurations whose counters were given up for lack of memory.
  [[nodiscard]] std::size_t given_up() const noexcept { return evaluator_->given_up(); }

  // Whether enter() will wait for what was measured before to be evaluated.
  [[nodiscard]] bool must_wait(const MeasuredLaunch& launch) const;
  // At a launch's entry: whether it is in a window. `before_window` is called where one is to be opened, and leaves nothing
  // under way on the GPU. Throws Error; the window is then forgotten, as in all that follows.
  [[nodiscard]] bool enter(MeasuredLaunch launch, const std::function<void()>& before_window);
  // At the exit of one that was. Whether a window was closed.
  bool leave();
  // Before work that no window may hold: graphs, and the beginning of a capture.
  void interrupt();
  // Gives the GPU's counters back until they are needed again.
  void release_counters();
  // The last call but for wait_for_values(): gives the counters back, and waits too.
  void finish();
  // Until what was measured is evaluated.
  void wait_for_values() noexcept { evaluator_->finish(); }

 private:
  [[nodiscard]] PassScheduler::Stage schedule(cupti::RangeProfiler& profiler, const cupti::CollectionPlan& plan,
                                              std::size_t most_bytes, std::size_t most_launches);
  void wait_for_room();
  void open_window();
  void take_profiler(const PassScheduler::Pass& pass);
  void let_others();
  void skip(const PassScheduler::Pass& pass);
  void close_window();
  void deliver(std::chrono::nanoseconds cost);
  [[noreturn]] void forget_window();

  const cupti::Library& library_;
  CUcontext context_;
  const std::string gpu_;  // its PCI bus id
  const bool wants_all_;   // launches may be wanted without a limit
  std::vector<Stage> stages_;
  std::vector<std::size_t> most_launches_;  // of a window, by stage
  cupti::CounterTurn turn_;                 // while there is a profiler
  std::chrono::steady_clock::time_point turn_since_;
  std::uint64_t idle_launches_ = 0;
  std::optional<cupti::RangeProfiler> profiler_;
  std::size_t profiled_stage_ = 0;  // by profiler_
  bool profiler_is_fresh_ = false;  // its first window takes longer than the others
  std::optional<PassScheduler> scheduler_;
  std::unique_ptr<RangeEvaluator> evaluator_;

  bool window_open_ = false;
  std::optional<cupti::ActivityPause> pause_;    // while one is open
  std::chrono::steady_clock::time_point since_;  // the window was opened
  std::chrono::nanoseconds starting_{0};         // of that cuptiRangeProfilerStart
  std::chrono::nanoseconds spent_{0};
  std::vector<MeasuredLaunch> launches_;
};

}  // namespace dlkprof::inject
