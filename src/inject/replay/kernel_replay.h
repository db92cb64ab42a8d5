// Replays one launch at a time on one context until every pass of the plan is collected.
//
// Two ways, of about the same price a pass:
//   caches as they are   CUPTI's own kernel replay around the program's launch: begin() at its entry, end() at its exit;
//                        CUPTI saves memory, launches again for every pass, restores.
//   caches flushed       the same by hand, all at the launch's entry: checkpoint, then for each pass restore, flush L2,
//                        launch; at last restore once more, so that the program's own launch finds everything as it was.
// Not thread-safe: the session lets no other launch run meanwhile. The context must be current.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "capture/options.h"
#include "cupti/activity.h"
#include "cupti/cache_flush.h"
#include "cupti/checkpoint.h"
#include "cupti/counter_turn.h"
#include "cupti/driver.h"
#include "cupti/host.h"
#include "cupti/range_profiler.h"
#include "inject/session/launch_call.h"

namespace dlkprof::inject {

// The driver refused the launch, as it will refuse the program's own.
class LaunchRefused : public Error {
 public:
  using Error::Error;
};

class KernelReplay {
 public:
  // Sets up counters for `context` on `device`; throws Error (permission, busy, unsupported, no metric).
  KernelReplay(const cupti::Library& library, const cupti::Driver& driver, CUcontext context, const capture::DeviceRecord& device,
               const std::vector<capture::MetricRequest>& metrics, capture::CacheControl caches);

  KernelReplay(const KernelReplay&) = delete;
  KernelReplay& operator=(const KernelReplay&) = delete;
  ~KernelReplay();

  [[nodiscard]] const cupti::CollectionPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const std::vector<std::string>& unavailable() const noexcept { return unavailable_; }
  [[nodiscard]] capture::CacheControl caches() const noexcept { return caches_; }

  // At the launch's entry; throws Error, and then the launch is not measured.
  void begin(const LaunchCall& call);
  // At its exit: the values of plan().metrics in order; throws Error.
  [[nodiscard]] std::vector<double> end();
  // Gives the GPU's counters back, until the next begin() takes them again: while a context holds them its launches are
  // slower (by a quarter on a launch-bound loop), and no other context of the GPU can have them.
  void release_counters();
  // The same where another process waits for them.
  void let_others() {
    if (turn_.is_wanted()) release_counters();
  }
  // The raw counters behind what end() gave, until the next begin().
  [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return profiler_->image(); }

 private:
  void take_counters();
  void replay_by_hand(const LaunchCall& call);
  // Whether all passes came; memory is then as a pass left it.
  [[nodiscard]] bool collect_passes(const LaunchCall& call, cupti::Checkpoint& memory);

  const cupti::Library& library_;
  const cupti::Driver& driver_;
  CUcontext context_;
  const std::string gpu_;  // its PCI bus id
  capture::CacheControl caches_;
  cupti::CounterTurn turn_;  // while there is a profiler, and for asking what counters there are
  cupti::Host host_;
  std::vector<std::string> unavailable_;
  cupti::CollectionPlan plan_;
  std::optional<cupti::ActivityPause> pause_;  // while the program's own launch is profiled
  std::optional<cupti::RangeProfiler> profiler_;
  std::unique_ptr<cupti::CacheFlush> flush_;
};

}  // namespace dlkprof::inject
