// --section source: of one launch of each configuration it is counted what its instructions did, in code that CUPTI patches. The
// launch is made alone, and is done before others are made; PC sampling of its context pauses meanwhile.
#pragma once

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
  SassCollector(CollectorServices& services, PcSampling& sampling) : services_(services), sampling_(sampling) {}

  [[nodiscard]] bool takes_turns() const noexcept override { return true; }
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
  };
  [[nodiscard]] cupti::SassCounter& counter_of(const capture::DeviceRecord& device);
  void give_up(Ledger::Entry entry, const std::exception& error) noexcept;

  CollectorServices& services_;
  PcSampling& sampling_;
  std::map<std::uint32_t, cupti::SassCounter> counters_;  // by CUDA ordinal
  std::optional<Counting> counting_;
  int failures_in_a_row_ = 0;
  bool failed_ = false;  // nothing is counted any more
};

}  // namespace dlkprof::inject
