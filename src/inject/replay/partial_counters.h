// Counters of launches of which one pass each was collected, kept until a launch configuration has all passes of a plan.
//
// Where they take more than they may, the configurations with the least GPU time are given up. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dlkprof/capture_format.h"
#include "inject/replay/packed_range.h"
#include "inject/session/ledger.h"

namespace dlkprof::inject {

struct MeasuredLaunch {
  capture::LaunchRecord record;  // without its values until it is evaluated
  Ledger::Entry entry = 0;
};

class PartialCounters {
 public:
  struct Range {
    MeasuredLaunch launch;
    PackedRange counters;
  };
  PartialCounters(std::size_t passes, std::size_t most_bytes) : passes_(passes), most_bytes_(most_bytes) {}

  void add(std::size_t pass, Range range);
  // A range of each pass of a configuration that has all, the oldest; empty where it has not. They are then no longer here.
  [[nodiscard]] std::vector<Range> take_complete(Ledger::Entry entry);
  // The same of the passes that some configuration has that never was complete; empty where there is no more.
  [[nodiscard]] std::vector<Range> take_incomplete();
  // GPU time of a launch of the configuration.
  void set_gpu_time(Ledger::Entry entry, std::uint64_t ns) { gpu_ns_[entry] = ns; }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  // Configurations that were given up for lack of memory.
  [[nodiscard]] std::size_t given_up() const noexcept { return given_up_.size(); }

 private:
  struct Ranges {
    std::vector<std::deque<Range>> of_pass;
    std::size_t bytes = 0;
    std::uint64_t launches = 0;  // of the configuration, as far as they are known of
    bool was_complete = false;
  };
  [[nodiscard]] static std::size_t bytes_of(const Range& range) { return sizeof range + range.counters.bytes(); }
  [[nodiscard]] static std::vector<Range> take_oldest(Ranges& ranges);
  [[nodiscard]] std::uint64_t gpu_time(Ledger::Entry entry, const Ranges& ranges) const;
  void give_up_some();

  const std::size_t passes_, most_bytes_;
  std::unordered_map<Ledger::Entry, Ranges> ranges_;
  std::unordered_map<Ledger::Entry, std::uint64_t> gpu_ns_;
  std::unordered_set<Ledger::Entry> given_up_;
  std::size_t bytes_ = 0;
};

}  // namespace dlkprof::inject
