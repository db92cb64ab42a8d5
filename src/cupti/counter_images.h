// Counter-data images in which a counter has one value, the sum over its instances: multiprocessors, slices of the L2 cache,
// memory partitions. Where CUPTI lays images out they keep a value for each. A range of basic takes 1.3 MB then on an H100, and
// 4 KB with sums alone: windows hold more launches, and evaluating one takes an eighth (results/2026-11-26-h100/sums.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cupti/host.h"
#include "cupti/library.h"
#include "cupti/nvperf.h"

namespace dlkprof::cupti {

// What a plan has the hardware count, by NVPerf's names for it, each once. Throws Error.
[[nodiscard]] std::vector<std::string> raw_counters(const NvPerf& nvperf, const CollectionPlan& plan);

// The metrics of a plan, and those of GH100, for which NVPerf needs each instance by itself: without them they are no number,
// and a throughput to which one belongs is the greatest of its other figures.
[[nodiscard]] std::vector<std::string> metrics_of_instances(const Host& host, std::span<const std::string> metrics);

class CounterImages {
 public:
  // For what all `plans` count. None where the host cannot sum one of them (Host::can_sum), or where the libraries lack what it
  // takes: images are then those of RangeProfiler. Throws Error.
  [[nodiscard]] static std::optional<CounterImages> create(const Library& library, const Host& host,
                                                           std::span<const CollectionPlan* const> plans);
  // `counters` as raw_counters() names them, with their instances those of `instances`. Throws Error.
  CounterImages(const Library& library, const std::string& chip, std::span<const std::string> counters,
                const std::set<std::string>& instances);

  // An image that holds no range yet, with room for so many launches. Throws Error.
  [[nodiscard]] std::vector<std::uint8_t> empty(std::size_t launches) const;

 private:
  const Library* library_;
  std::vector<std::uint8_t> prefix_;  // what an image begins with
};

}  // namespace dlkprof::cupti
