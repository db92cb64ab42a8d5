// What a collection will take, from its passes and from what a program launches: arithmetic over cupti/collection_prices.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "capture/options.h"

namespace dlkprof::cli {

// What a plan asks of a GPU.
struct PlanNeeds {
  std::size_t passes = 0;
  bool per_sm = false;  // counters of each multiprocessor are among them
  bool sums = false;    // windows keep their sums alone (cupti::Host::can_sum)
};

// A launch configuration that the selector takes.
struct ConfigLaunches {
  std::uint64_t launches = 0;
  bool collective = false;  // of NCCL: never replayed
};

// Of one way of collecting. Prices hold whether or not it is known how much is launched.
struct WayForecast {
  double launch_seconds = 0;                       // all passes of a launch
  double window_seconds = 0;                       // opening and closing windows for all passes; 0: there are none
  double first_window_seconds = 0;                 // once, besides
  std::size_t host_bytes = 0;                      // while measuring
  std::optional<std::uint64_t> launches, windows;  // that will be measured; windows of all passes
  std::optional<double> seconds;                   // in all
};

struct CollectionForecast {
  std::optional<WayForecast> replay, windows;  // none where it is not taken
  // Under `auto`, in a process that loads a framework: nothing is replayed first. None where launches are not known, or it is the
  // same.
  std::optional<WayForecast> with_framework;
  std::uint64_t skipped = 0;  // launches of configurations that no way takes
};

// `configs`: none where it is not known what the program launches. Assumes what cannot be known: that the program repeats
// itself, and that windows hold wanted launches only, so that seconds are the least it may take.
[[nodiscard]] CollectionForecast forecast(const capture::ProfileOptions& options, const PlanNeeds& needs,
                                          const std::optional<std::vector<ConfigLaunches>>& configs);

}  // namespace dlkprof::cli
