// --section source: counts what instructions did, in one launch of each configuration, in code that CUPTI patches. It begins when
// all launches before it are done. There is no PC sampling in the same run: once a function was patched, its samples are of "no
// kernel of the program's" (H100, CUDA 13.0).
//
// No other launch ever waits for that: with four threads of a program in PyTorch, and with JAX, processes hung where callbacks of
// other launches waited while a function was patched (H100, CUDA 13.0). Where another launch is under way or comes meanwhile,
// nothing is counted any more, as it is not known whether CUPTI can bear that, and whose the counts are.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

#include "cupti/sass_counter.h"
#include "inject/sampling/pc_sampling.h"
#include "inject/session/collector.h"
#include "inject/session/collector_services.h"

namespace dlkprof::inject {

class SassCollector final : public Collector {
 public:
  SassCollector(CollectorServices& services, PcSampling& code) : services_(services), code_(code) {}

  [[nodiscard]] bool may_wait() const noexcept override { return false; }
  void comes() noexcept override {
    ++begun_;
    ++under_way_;
  }
  void goes() noexcept override { --under_way_; }
  [[nodiscard]] bool wants(Launch& launch) override;
  [[nodiscard]] bool enter(Launch& launch) override;
  void skip(const Launch& launch) override;
  [[nodiscard]] bool leave(const CUpti_CallbackData& data) override;
  void stop(bool alone) noexcept override;

 private:
  // A launch whose instructions are counted, from its entry to its exit.
  struct Counting {
    Ledger::Entry entry = 0;
    std::uint64_t index = 0;
    capture::LaunchKey key;
    cupti::SassCounter* counter = nullptr;
    std::uint64_t begun = 0;  // launches, this one included
  };
  [[nodiscard]] cupti::SassCounter& counter_of(const capture::DeviceRecord& device);
  void fetch(const Counting& counting, const CUpti_CallbackData& data);
  [[noreturn]] void end_as_launches_overlap();
  void give_up(Ledger::Entry entry, const std::exception& error) noexcept;

  CollectorServices& services_;
  PcSampling& code_;
  std::map<std::uint32_t, cupti::SassCounter> counters_;  // by CUDA ordinal
  std::optional<Counting> counting_;
  bool taken_ = false;                      // from wants() to enter() or skip()
  std::atomic<std::uint64_t> begun_{0};     // launches of the process
  std::atomic<std::int64_t> under_way_{0};  // between entry and exit
  int failures_in_a_row_ = 0;
  bool failed_ = false;  // nothing is counted any more
};

}  // namespace dlkprof::inject
