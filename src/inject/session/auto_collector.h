// --replay-mode auto. In a process with a deep-learning framework, which launches the same configurations again and again,
// windows come first, from the first launch on, and a launch is replayed only where its configuration gets no further in windows.
// In any other process the first launch of each configuration is replayed, and windows take what is wanted beyond that, what must
// not be replayed, and what is in graphs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>

#include "inject/session/kernel_collector.h"
#include "inject/session/window_collector.h"

namespace dlkprof::inject {

class AutoCollector final : public Collector {
 public:
  // `framework_is_loaded`: asked once, at the first launch that is selected.
  AutoCollector(CollectorServices& services, const select::Selector& selector, bool (*framework_is_loaded)())
      : services_(services),
        kernels_(services, selector),
        windows_(services, true),
        picks_launches_(!selector.goes_by_name_and_device()),
        framework_is_loaded_(framework_is_loaded) {}

  [[nodiscard]] bool takes_turns() const noexcept override { return true; }
  [[nodiscard]] bool wants(Launch& launch) override;
  [[nodiscard]] bool enter(Launch& launch) override;
  void skip(const Launch& launch, capture::SkipReason reason) override;
  [[nodiscard]] bool leave(const CUpti_CallbackData& data) override;
  [[nodiscard]] ByNodes by_nodes(CUcontext context, const GraphKernels& kernels) override {
    return picks_launches_ ? ByNodes::no : windows_.by_nodes(context, kernels);
  }
  void allocated(std::uint64_t bytes) override { kernels_.allocated(bytes); }
  void context_ends(CUcontext context) override;
  [[nodiscard]] bool poll(const Launch& launch) override { return windows_.poll(launch) && !kernels_.can_measure(); }
  [[nodiscard]] bool is_settled(const Launch& launch) override {
    return kernels_.is_settled(launch) && (!windows_.in_use() || windows_.is_settled(launch));
  }
  void stop(bool alone) noexcept override;
  void finish() noexcept override;

 private:
  [[nodiscard]] bool chooses_replay(Launch& launch);
  [[nodiscard]] bool replay_once(Launch& launch);
  [[nodiscard]] bool windows_first();

  CollectorServices& services_;
  KernelCollector kernels_;
  WindowCollector windows_;
  std::set<Ledger::Entry> replayed_;  // once, as windows got no further with them
  std::chrono::steady_clock::time_point replay_began_;
  std::chrono::nanoseconds replaying_{0};  // spent on replays
  const bool picks_launches_;              // a launch has to give all passes by itself
  bool (*const framework_is_loaded_)();
  std::optional<bool> windows_first_;
};

}  // namespace dlkprof::inject
