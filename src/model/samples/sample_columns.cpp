#include "model/samples/sample_columns.h"

#include <algorithm>

#include "cupti/sampling_plan.h"

namespace dlkprof::model {

bool grows_with_length(const std::string& metric) {
  return metric.ends_with(".sum") || metric.ends_with(".avg") || metric.ends_with(".max") || metric.ends_with(".min");
}

bool is_activity_by_time(const std::string& metric) {
  const auto has = [&metric](const char* part) { return metric.find(part) != std::string::npos; };
  if (has("cycles_elapsed") || has("__time_duration") || has(".peak_sustained")) return false;
  return grows_with_length(metric) || metric.ends_with("_elapsed") || metric.ends_with(".per_second");
}

std::vector<SampleColumn> SampleColumn::of(const std::vector<std::string>& metrics, const capture::SampleBatch& batch) {
  std::vector<SampleColumn> columns(metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    SampleColumn& column = columns[i];
    column.metric_ = &metrics[i];
    column.values_ = &batch.values[i];
    column.lengths_ = &batch.length_ns;
    column.grows_ = grows_with_length(metrics[i]);
    column.by_time_ = is_activity_by_time(metrics[i]);
    const auto weight = cupti::sampling_weight(metrics[i]);
    const auto found = weight ? std::find(metrics.begin(), metrics.end(), *weight) : metrics.end();
    if (found != metrics.end()) column.weights_ = &batch.values[static_cast<std::size_t>(found - metrics.begin())];
  }
  return columns;
}

}  // namespace dlkprof::model
