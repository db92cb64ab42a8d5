// --replay-mode kernel: each selected launch is replayed, pass after pass, while all others wait.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inject/replay/kernel_replay.h"
#include "inject/session/collector.h"
#include "inject/session/collector_services.h"
#include "inject/session/refusals.h"

namespace dlkprof::inject {

class KernelCollector final : public Collector {
 public:
  KernelCollector(CollectorServices& services, const select::Selector& selector) : services_(services), selector_(selector) {}

  [[nodiscard]] bool takes_turns() const noexcept override { return true; }
  [[nodiscard]] bool wants(Launch& launch) override;
  [[nodiscard]] bool enter(Launch& launch) override;
  void skip(const Launch& launch, capture::SkipReason reason) override;
  [[nodiscard]] bool leave(const CUpti_CallbackData& data) override;
  void allocated(std::uint64_t bytes) override { largest_allocation_ = std::max(largest_allocation_, bytes); }
  void context_ends(CUcontext context) override { replays_.erase(context); }
  [[nodiscard]] bool is_settled(const Launch& launch) override;
  void stop(bool alone) noexcept override;
  void finish() noexcept override { failed_ = true; }  // NVPerf may be taken down from now on

  // For replay mode auto, whose other half measures what is not replayed.
  [[nodiscard]] capture::SkipReason reason_against(const Launch& launch) const;
  // Takes one of `samples` of the launch's configuration (none: without limit): enter() is to follow.
  [[nodiscard]] bool take(Launch& launch, std::optional<std::uint64_t> samples);
  // Counters are held that no launch has needed for long: enter() gives them back.
  [[nodiscard]] bool is_idle(const Launch& launch) const noexcept;
  [[nodiscard]] bool holds_counters() const noexcept { return counters_used_at_ != 0; }
  [[nodiscard]] bool can_measure() const noexcept { return !failed_; }
  [[nodiscard]] bool is_measuring() const noexcept { return measuring_.has_value(); }
  void release_counters() noexcept;

 private:
  struct Replay {
    std::unique_ptr<KernelReplay> replay;
    std::uint32_t metric_set = 0;
  };
  // A launch that is being replayed, from its entry to its exit.
  struct Measuring {
    KernelReplay* replay = nullptr;
    Ledger::Entry entry = 0;
    capture::LaunchRecord record;
    std::chrono::steady_clock::time_point since;
    std::optional<capture::ActivityEvent> untimed{};  // where the program's own launch is the one that is counted
  };
  struct Base {
    std::uint64_t launch_index = 0;
    std::vector<std::uint8_t> image;
  };

  void begin(Measuring& measuring, const Launch& launch);
  [[nodiscard]] Replay& replay_for(const Launch& launch);
  [[nodiscard]] bool is_too_dear(const Launch& launch, const KernelReplay& replay);
  void end(const CUpti_CallbackData& data, Measuring& measuring);
  void keep_counters(const capture::LaunchRecord& launch, std::span<const std::uint8_t> image);
  // The driver has refused the launch, which is the program's affair.
  void leave_out(const Measuring& measuring);
  void give_up(Ledger::Entry entry, const std::exception& error) noexcept;

  CollectorServices& services_;
  const select::Selector& selector_;
  std::map<CUcontext, Replay> replays_;
  std::optional<Measuring> measuring_;
  std::map<std::uint32_t, Base> bases_;  // by metric set: the first image kept, which the others build on
  Refusals refusals_;
  std::uint64_t largest_allocation_ = 0;
  std::uint64_t taken_at_ = 0;          // the launch that was last to be measured
  std::uint64_t counters_used_at_ = 0;  // the launch measured last, while counters are held; else 0
  int waiting_ = 0;                     // launches taken but not begun, as the gate is not theirs yet
  int failures_in_a_row_ = 0;
  std::atomic<bool> failed_{false};
  bool told_too_dear_ = false;
};

}  // namespace dlkprof::inject
