// --section source: counts what instructions did, in one launch of each configuration, in code that CUPTI patches. There is no PC
// sampling in the same run: once a function was patched, its samples are of "no kernel of the program's" (H100, CUDA 13.0).
//
// The launch is made alone: it begins when all launches before it are done, and others, of graphs too, and captures wait until it
// is. CUPTI seems to change the code where it lies: beside it kernels of other threads ran into illegal instructions, and so did
// one that a capture kept from being waited for (a Flax CNN, whose compiler launches from several threads; H200, CUDA 13.0).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "cupti/sass_counter.h"
#include "inject/sampling/pc_sampling.h"
#include "inject/session/collector.h"
#include "inject/session/collector_services.h"
#include "inject/session/refusals.h"

namespace dlkprof::inject {

class SassCollector final : public Collector {
 public:
  SassCollector(CollectorServices& services, PcSampling& code) : services_(services), code_(code) {}

  [[nodiscard]] bool takes_turns() const noexcept override { return true; }
  [[nodiscard]] bool wants(Launch& launch) override;
  [[nodiscard]] bool enter(Launch& launch) override;
  void skip(const Launch& launch, capture::SkipReason reason) override;
  [[nodiscard]] bool leave(const CUpti_CallbackData& data) override;
  void stop(bool alone) noexcept override;

 private:
  // A launch whose instructions are counted, from its entry to its exit.
  struct Counting {
    Ledger::Entry entry = 0;
    std::uint64_t index = 0;
    capture::LaunchKey key;
    cupti::SassCounter* counter = nullptr;
  };
  [[nodiscard]] capture::SkipReason reason_against(const Launch& launch);
  [[nodiscard]] cupti::SassCounter& counter_of(const capture::DeviceRecord& device);
  void fetch(const Counting& counting, const CUpti_CallbackData& data);
  void give_up(Ledger::Entry entry, const std::exception& error) noexcept;

  CollectorServices& services_;
  PcSampling& code_;
  std::map<std::uint32_t, cupti::SassCounter> counters_;  // by CUDA ordinal
  std::optional<Counting> counting_;
  Refusals refusals_;
  int failures_in_a_row_ = 0;
  bool failed_ = false;  // nothing is counted any more
};

}  // namespace dlkprof::inject
