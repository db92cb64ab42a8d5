// Joins counters to rows through launch configurations (Counters says how).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

class CounterJoin {
 public:
  explicit CounterJoin(const Timeline& timeline);

  // A work of row number `row`.
  void add(std::size_t row, const Activity& activity);
  // So many launches of a configuration, which took so long.
  void add(std::size_t row, std::uint32_t config, std::uint64_t launches, std::int64_t gpu_ns);
  // Of each of `rows` rows.
  [[nodiscard]] std::vector<Counters> finish(std::size_t rows) const;

 private:
  // A configuration that was measured.
  struct Measured {
    std::uint64_t samples = 0;
    std::uint8_t replay_modes = 0, cache_controls = 0;         // as Counters has them
    std::vector<std::pair<const std::string*, double>> means;  // metrics, which lie in the timeline
    const std::map<std::string, SampledFigure>* sampled = nullptr;
  };
  // A row's launches of a configuration.
  struct Share {
    std::uint64_t launches = 0;
    std::int64_t gpu_ns = 0;
  };

  std::unordered_map<std::uint32_t, Measured> measured_;  // by configuration
  std::unordered_map<std::uint64_t, Share> shares_;       // by row and configuration
};

}  // namespace dlkprof::model
