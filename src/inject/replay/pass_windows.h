// Measures launches of one context as the program makes them: nothing is replayed, saved or restored. A window holds one pass,
// and of the launches that come while it is open those that are picked; what several windows counted of one launch configuration
// is put together (pass_scheduler.h, range_evaluator.h). Works with kernels that wait for one another across the grid or across
// GPUs.
//
// Not thread-safe. From enter() to leave() no other launch may be in the driver. The context must be current, but in launched().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/options.h"
#include "capture/ranks.h"
#include "cupti/activity.h"
#include "cupti/collection_prices.h"
#include "cupti/counter_turn.h"
#include "cupti/host.h"
#include "cupti/profiling_session.h"
#include "cupti/range_profiler.h"
#include "inject/replay/pass_scheduler.h"
#include "inject/replay/range_evaluator.h"

namespace dlkprof::inject {

// Of a pass whose counters are read so, before a window has told what it takes.
[[nodiscard]] PassScheduler::Price price_of(const cupti::WindowPrices& prices) noexcept;

class PassWindows {
 public:
  using Clock = std::chrono::steady_clock;

  struct Asked {
    cupti::CollectionPlan plan;
    std::vector<std::string> unavailable;
    std::uint32_t metric_set = 0;
  };
  // Sets up counters for `context`, for those of `options` that tell what is to be measured: options.metrics, and before them
  // options.first_metrics where these take one pass and the others more. Plans have metric sets from `first_metric_set` on.
  // Throws Error (permission, busy, unsupported, no metric).
  PassWindows(const cupti::Library& library, CUcontext context, const capture::DeviceRecord& device,
              const capture::ProfileOptions& options, std::uint32_t first_metric_set, RangeEvaluator::Listener listener);

  [[nodiscard]] std::span<const Asked> asked() const noexcept { return asked_; }
  [[nodiscard]] const PassScheduler& scheduler() const noexcept { return *scheduler_; }
  [[nodiscard]] bool window_open() const noexcept { return window_open_; }
  // Wall-clock time spent on measuring.
  [[nodiscard]] std::chrono::nanoseconds spent() const noexcept { return spent_; }
  // Configurations whose counters were given up for lack of memory.
  [[nodiscard]] std::size_t given_up() const noexcept { return evaluator_->given_up(); }

  // At a launch's entry. `wanted`: samples of its configuration. Whether it is to be made alone, and enter() be called.
  [[nodiscard]] bool launched(Ledger::Entry entry, std::uint64_t wanted) { return scheduler_->launched(entry, wanted); }
  // After it: whether the GPU's counters are to be given back, as they are held in vain, or another process has waited for them
  // for long enough to be worth a new session.
  [[nodiscard]] bool is_to_give_back(bool launch_is_wanted);
  [[nodiscard]] bool holds_counters() const noexcept { return session_.has_value(); }
  // The same of a launch of a graph of these kernels, which is then to be made node by node.
  [[nodiscard]] bool graph_launched(std::span<const Ledger::Entry> kernels) { return scheduler_->launched_together(kernels); }
  // Whether the launch is measured, and leave() is to be called at its exit. Throws Error; the window is then forgotten, as in
  // all that follows. `since`: what it took from then on is measuring.
  [[nodiscard]] bool enter(MeasuredLaunch launch, Clock::time_point since = Clock::now());
  // Whether a window with launches was closed. `refused`: by the driver, so there was none; it ends its window, as whether CUPTI
  // counts a range of it is not known.
  bool leave(bool refused);
  // Gives the GPU's counters back until they are needed again. What other contexts have is then to be given back as well, before
  // a window is opened in one (cupti::ProfilingSession).
  void release_counters();
  // The last call but for wait_for_values(): gives the counters back, and waits too.
  void finish();
  // Until what was measured is evaluated.
  void wait_for_values() noexcept { evaluator_->finish(); }

 private:
  struct Pass {
    std::size_t plan = 0, pass = 0;
    double close_launch_ns = 0;  // of what closing its windows takes: for each launch
  };
  void schedule(cupti::RangeProfiler& profiler, const cupti::WindowPrices& dear, const cupti::WindowPrices& all,
                std::size_t most_bytes);
  void open_window(Ledger::Entry entry);
  void take_session();
  void close_window(bool refused = false);
  void give_back() noexcept;
  [[noreturn]] void forget_window();

  const cupti::Library& library_;
  CUcontext context_;
  const std::string gpu_;  // its PCI bus id
  std::vector<Asked> asked_;
  std::vector<Pass> passes_;       // by the scheduler's number
  std::size_t most_launches_ = 0;  // of a window
  // Windows are chosen by what earlier ones took. Not by ranks: they wait for one another in collectives, and as long as all
  // choose alike they measure at the same time.
  const bool learns_prices_ = !capture::has_other_ranks();
  std::shared_ptr<cupti::ReusableImage> image_;
  std::optional<PassScheduler> scheduler_;
  std::unique_ptr<RangeEvaluator> evaluator_;

  cupti::CounterTurn turn_;  // while there is a session
  Clock::time_point turn_since_;
  std::uint64_t launches_seen_ = 0;
  std::optional<cupti::ProfilingSession> session_;

  bool window_open_ = false;
  std::chrono::nanoseconds window_cost_{0};  // but for its launches
  std::vector<MeasuredLaunch> launches_;
  std::optional<cupti::ActivityPause> pause_;  // while a launch is measured
  Clock::time_point since_;                    // its entry
  std::chrono::nanoseconds spent_{0};
};

}  // namespace dlkprof::inject
