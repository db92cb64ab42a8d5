// Joins counters to rows through launch configurations (Counters says how).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/aggregate/aggregate.h"
#include "model/aggregate/config_counters.h"
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
  // A row's launches of a configuration.
  struct Share {
    std::uint64_t launches = 0;
    std::int64_t gpu_ns = 0;
  };

  std::unordered_map<std::uint32_t, ConfigCounters> measured_;  // by configuration
  std::unordered_map<std::uint64_t, Share> shares_;             // by row and configuration
};

// Of one launch of a configuration, as those measured of it were on average.
[[nodiscard]] Counters counters_of_launch(const Timeline& timeline, std::uint32_t config);

}  // namespace dlkprof::model
