// What was measured of one launch configuration: the means that stand for each of its launches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/aggregate/metric_map.h"
#include "model/timeline/timeline.h"

namespace dlkprof::model {

// Theoretical occupancy needs no counter (model/aggregate/occupancy.h). It stands among the metrics of what was measured, so
// that rows have it of the same launches as the achieved one.
inline constexpr const char* kTheoreticalOccupancy = "theoretical_occupancy_pct";
// By counters that are no occupancy themselves, those of the set quick.
inline constexpr const char* kAchievedOccupancy = "achieved_occupancy_pct";

struct ConfigCounters {
  struct Figure {
    MetricName metric;
    double mean = 0;  // of a launch
    // What it is the mean of; 0 where it comes from samples, which are of parts of launches.
    double sum = 0;
    std::uint64_t launches = 0;
  };
  std::vector<Figure> figures;                        // by metric
  std::vector<const std::string*> unreliable;         // metrics some of whose values cannot be (model/aggregate/reliable.h)
  std::uint64_t samples = 0;                          // launches measured
  std::uint8_t replay_modes = 0, cache_controls = 0;  // as Counters has them
  const std::map<std::string, SampledFigure>* sampled = nullptr;

  [[nodiscard]] MetricMap<double> values() const;
};

// Empty where the configuration was not measured.
[[nodiscard]] ConfigCounters counters_of_config(const Timeline& timeline, std::uint32_t config);

}  // namespace dlkprof::model
