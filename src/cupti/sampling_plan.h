// What of a list of metrics can be sampled, and in how many turns: PM sampling takes plans of a single pass only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cupti/host.h"

namespace dlkprof::cupti {

struct SamplingPlan {
  std::vector<CollectionPlan> turns;     // of one pass each; with the weights of their metrics, where there is room
  std::vector<std::string> unavailable;  // asked for, but not offered to samples, or only in several passes
};

// `host`: for samples. Takes some 20 ms where all fits one pass, else about as long for each metric.
[[nodiscard]] SamplingPlan plan_sampling(const Host& host, const std::vector<capture::MetricRequest>& requests);

// The counter by which samples of a metric are weighted, so that their mean is what NVPerf would make of the sum of their raw
// counters: the denominator of the metric. None: samples count by their length, as for counts, rates, and shares of what was
// possible meanwhile. From the forms of metrics that the CUPTI guide lists ("per_cycle_active" is per cycle in which the unit
// was active).
[[nodiscard]] std::optional<std::string> sampling_weight(const std::string& metric);

}  // namespace dlkprof::cupti
