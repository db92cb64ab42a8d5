#include "model/samples/sample_bins.h"

#include <algorithm>

#include "model/samples/sample_columns.h"

namespace dlkprof::model {

void SampleBins::add(const std::vector<std::string>& metrics, const capture::SampleBatch& batch) {
  for (const SampleColumn& column : SampleColumn::of(metrics, batch)) {
    if (column.grows()) continue;
    auto& sums = sums_[column.metric()];
    auto last = sums.end();  // samples come in order, so that most find the stretch of the one before
    for (std::size_t i = 0; i < batch.start_ns.size(); ++i) {
      const auto weighed = column.at(i);
      if (!weighed) continue;
      const std::int64_t middle = batch.start_ns[i] + batch.length_ns[i] / 2;
      const std::int64_t number = (middle - origin_ns_) / width_ns_ - (middle < origin_ns_ ? 1 : 0);
      if (last == sums.end() || last->first != number) last = sums.try_emplace(number).first;
      ++last->second.samples;
      last->second.sum += weighed->weight * weighed->value;
      last->second.weight += weighed->weight;
    }
  }
}

void SampleBins::move_to(Timeline& timeline, std::uint32_t device) && {
  for (const auto& [metric, sums] : sums_) {
    auto& names = timeline.sampled_metrics;
    const auto name = std::find(names.begin(), names.end(), metric);
    const auto number = static_cast<std::uint32_t>(name - names.begin());
    if (name == names.end()) names.push_back(metric);
    for (const auto& [stretch, sum] : sums) {
      const std::int64_t start = origin_ns_ + stretch * width_ns_;
      // Where the unit never worked a share of the time that it did is none, and the curve is at 0.
      const double value = sum.weight > 0 ? sum.sum / sum.weight : 0;
      timeline.bins.push_back({device, number, start, start + width_ns_, sum.samples, value});
    }
  }
}

}  // namespace dlkprof::model
