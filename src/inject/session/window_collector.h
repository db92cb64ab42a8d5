// --replay-mode iteration: launches are measured in windows of one pass, as the program makes them (replay/pass_windows.h). Each
// of them is made alone from its entry to its exit; all others run as ever.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "inject/replay/pass_windows.h"
#include "inject/session/collector.h"
#include "inject/session/collector_services.h"

namespace dlkprof::inject {

class WindowCollector final : public Collector {
 public:
  // `cautious`: nobody asked for windows by name, so collectives are left alone: other processes may wait for what this one does
  // beside them. So they are where the process has several GPUs, and with them graphs that hold some.
  WindowCollector(CollectorServices& services, bool cautious) : services_(services), cautious_(cautious) {}

  [[nodiscard]] bool takes_turns() const noexcept override { return true; }
  [[nodiscard]] bool wants(Launch& launch) override;
  [[nodiscard]] bool enter(Launch& launch) override;
  void skip(const Launch& launch, capture::SkipReason reason) override;
  [[nodiscard]] bool leave(const CUpti_CallbackData& data) override;
  [[nodiscard]] ByNodes by_nodes(CUcontext context, const GraphKernels& kernels) override;
  void context_ends(CUcontext context) override;
  [[nodiscard]] bool poll(const Launch& launch) override;
  [[nodiscard]] bool is_settled(const Launch& launch) override;
  void stop(bool alone) noexcept override;
  void finish() noexcept override;

  // For replay mode auto. Whether windows may be opened.
  [[nodiscard]] bool usable() const noexcept { return !over_ && !services_.waits_for_program(); }
  [[nodiscard]] bool in_use() const noexcept { return !over_ && !windows_.empty(); }
  // The configuration comes again and again without getting what it lacks.
  [[nodiscard]] bool is_stuck(const Launch& launch) const;
  void release_counters() noexcept;

 private:
  struct Context {
    std::unique_ptr<PassWindows> windows;
    std::uint32_t device = 0;
  };

  [[nodiscard]] bool leaves_collectives_alone() noexcept { return cautious_ || services_.has_several_gpus(); }
  [[nodiscard]] bool is_captured(const Launch& launch, bool captured);
  [[nodiscard]] bool takes_counters_of_another(const Launch& launch) const;
  [[nodiscard]] bool are_done() const;
  [[nodiscard]] bool have_given_back(const Launch& launch);
  [[nodiscard]] PassWindows& windows_of(const Launch& launch);
  [[nodiscard]] RangeEvaluator::Listener listener();
  template <typename Act>
  void for_each(Act act) noexcept;
  void fail(const std::exception& error) noexcept;
  void end(const std::string& why) noexcept;
  void note_given_up(std::size_t configurations);

  CollectorServices& services_;
  const bool cautious_;
  std::map<CUcontext, Context> windows_;
  std::optional<std::string> due_;                 // why measuring is to end, which the next launch that is alone does
  bool over_ = false;                              // nothing is measured in windows any more
  bool left_open_ = false;                         // a window, as its GPU was not done
  Ledger::Entry measuring_ = 0;                    // the launch that is measured
  std::optional<capture::ActivityEvent> untimed_;  // of it
  int failures_in_a_row_ = 0;
  bool give_back_ = false;  // the counters of all contexts, by the next launch that finds all of them done
};

}  // namespace dlkprof::inject
