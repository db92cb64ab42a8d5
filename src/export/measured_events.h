// Figures of hardware counters by the kernel run that a trace shows them at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"

namespace dlkprof::exports {

struct EventFigure {
  const std::string* metric = nullptr;  // lives as long as the timeline
  double value = 0;                     // of this launch; of samples the mean of its configuration
  std::uint64_t n = 0;                  // launches measured alike that have a value; samples
  std::optional<double> low, high;      // 95 % confidence interval of their mean; none of one launch
};

struct MeasuredEvent {
  std::uint32_t activity = 0;  // index into Timeline::activities; timed
  const char* collected_by = "";
  const char* cache_control = "";
  std::vector<EventFigure> figures;  // by metric
};

// Those launches that were measured, as far as they are on the timeline; and of each configuration that was only sampled the
// first timed launch of the iterations aggregated. In the order of activities.
[[nodiscard]] std::vector<MeasuredEvent> measured_events(const model::Profile& profile);

// The metrics of all of them, each once, by name.
[[nodiscard]] std::vector<std::string> metrics_of(const std::vector<MeasuredEvent>& events);

}  // namespace dlkprof::exports
