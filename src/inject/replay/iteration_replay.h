// Measures the launches of one context as the program makes them: nothing is replayed, saved or restored. A window of the
// range profiler holds several launches, each of them a range; the passes of a plan are spread over repetitions of the same
// sequence of launches (run_scheduler.h). Works with kernels that wait for one another across the grid or across GPUs.
//
// In a window launches run one after another, and the order of the ranges is that in which they are made. So the caller
// lets no two launches be in the driver at once. Not thread-safe. The context must be current.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/options.h"
#include "cupti/activity.h"
#include "cupti/host.h"
#include "cupti/range_profiler.h"
#include "inject/replay/launch_evaluator.h"
#include "inject/replay/run_scheduler.h"

namespace dlkprof::inject {

class IterationReplay {
 public:
  // Sets up counters for `context`, for those of `options` that tell what is to be measured. Throws Error (permission, busy,
  // unsupported, no metric).
  IterationReplay(const cupti::Library& library, CUcontext context, const std::string& chip,
                  const capture::ProfileOptions& options, LaunchEvaluator::Listener listener);

  [[nodiscard]] const cupti::CollectionPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const std::vector<std::string>& unavailable() const noexcept { return unavailable_; }
  [[nodiscard]] const RunScheduler& scheduler() const noexcept { return *scheduler_; }
  [[nodiscard]] bool window_open() const noexcept { return window_open_; }
  // Wall-clock time in windows and around them.
  [[nodiscard]] std::chrono::nanoseconds spent() const noexcept { return spent_; }

  // Whether decide() will wait for what was measured before to be evaluated.
  [[nodiscard]] bool must_wait(const MeasuredLaunch& launch) const;
  // At a launch's entry: what it is to be. Unless idle, enter() follows.
  [[nodiscard]] RunScheduler::Before decide(const MeasuredLaunch& launch);
  // Whether it will be in a window. Throws Error; the run is then forgotten, as in all that follows.
  [[nodiscard]] bool enter(RunScheduler::Before decision, MeasuredLaunch launch);
  // Instead of enter(), where that cannot be.
  void forget_run() { scheduler_->forget_run(); }
  // At the exit of one that was. Whether a window was closed.
  bool leave();
  // Before work that no window may hold: graphs, and the beginning of a capture.
  void interrupt();
  // Gives the GPU's counters back until they are needed again.
  void release_counters();
  // The last call but for wait_for_values(): gives the counters back.
  void finish();
  // Until what was measured is evaluated.
  void wait_for_values() noexcept { evaluator_->finish(); }

 private:
  void open_window();
  void prepare_run();
  void close_window();
  void deliver();
  void drop_window() noexcept;

  const cupti::Library& library_;
  CUcontext context_;
  const bool wants_all_;  // launches may be wanted without a limit
  cupti::CollectionPlan plan_;
  std::vector<std::string> unavailable_;
  std::optional<cupti::RangeProfiler> profiler_;
  std::size_t most_launches_ = 1;
  std::optional<RunScheduler> scheduler_;
  std::unique_ptr<LaunchEvaluator> evaluator_;

  bool window_open_ = false;
  std::optional<cupti::ActivityPause> pause_;  // while one is open
  // Passes of a run were made that was not finished. Counters of the next one would then miss those of some passes, even where
  // the profiler is configured anew (seen with CUDA 13.0): it needs a new one.
  bool half_done_ = false;
  std::chrono::steady_clock::time_point since_;  // the window was opened
  std::chrono::nanoseconds spent_{0}, spent_on_run_{0};
  std::vector<MeasuredLaunch> launches_;  // of this pass
};

}  // namespace dlkprof::inject
