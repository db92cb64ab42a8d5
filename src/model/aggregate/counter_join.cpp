#include "model/aggregate/counter_join.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// NVPerf's "dram__bytes.sum" is a count of the launch, "dram__bytes.sum.per_second" is not.
bool is_count(const std::string& metric) { return metric.ends_with(".sum"); }

struct WeightedSum {
  double sum = 0, weight = 0;
};

// Of the figures of several configurations, each with its weight: their intervals add up by their squares.
class SampledSum {
 public:
  void add(const SampledFigure& figure, double weight) {
    samples_ += figure.samples;
    launches_ += figure.launches;
    known_ = known_ && figure.interval.has_value();
    const double part = weight * figure.interval.value_or(0);
    squares_ += part * part;
  }
  // `weight`: by which the sum of the figures is divided.
  [[nodiscard]] Counters::Sampled finish(double weight) const {
    const double interval = std::sqrt(squares_) / weight;
    return {samples_, launches_, known_ && std::isfinite(interval) ? std::optional(interval) : std::nullopt};
  }

 private:
  std::uint64_t samples_ = 0, launches_ = 0;
  bool known_ = true;
  double squares_ = 0;
};

// The counters of one row, configuration by configuration.
class RowCounters {
 public:
  explicit RowCounters(Counters& counters) : counters_(counters) {}

  void add(const ConfigCounters& config, std::uint64_t launches, std::int64_t gpu_ns) {
    counters_.samples += config.samples;
    counters_.replay_modes |= config.replay_modes;
    counters_.cache_controls |= config.cache_controls;
    add_ns(counters_.covered_ns, gpu_ns);
    for (const std::string* metric : config.unreliable) counters_.unreliable.insert(*metric);
    // A nanosecond each where none was timed: so they count among themselves, and for nothing beside those that were.
    const double weight = std::max(static_cast<double>(gpu_ns), static_cast<double>(launches));
    for (const ConfigCounters::Figure& figure : config.figures) add(config, figure, launches, weight);
  }

  void finish() {
    for (const auto& [metric, sum] : means_) counters_.values[metric] = sum.sum / sum.weight;
    for (const auto& [metric, sum] : sampled_) {
      const auto mean = means_.find(metric);
      counters_.sampled[metric] = sum.finish(mean == means_.end() ? 1 : mean->second.weight);
    }
  }

 private:
  void add(const ConfigCounters& config, const ConfigCounters::Figure& figure, std::uint64_t launches, double weight) {
    const MetricName metric = figure.metric;
    if (is_count(metric.text())) {
      weight = static_cast<double>(launches);
      counters_.values[metric] += figure.mean * weight;
      Counters::Count& count = counters_.counts[metric];
      count.measured += figure.sum;
      count.launches += figure.launches;
      count.scaled_to += launches;
    } else {
      WeightedSum& sum = means_[metric];
      sum.sum += figure.mean * weight;
      sum.weight += weight;
    }
    if (config.sampled == nullptr) return;
    const auto sampled = config.sampled->find(metric.text());
    if (sampled != config.sampled->end()) sampled_[metric].add(sampled->second, weight);
  }

  Counters& counters_;
  MetricMap<WeightedSum> means_;
  MetricMap<SampledSum> sampled_;
};

}  // namespace

CounterJoin::CounterJoin(const Timeline& timeline) {
  for (const auto& [config, metrics] : timeline.measured) measured_.emplace(config, counters_of_config(timeline, config));
}

void CounterJoin::add(std::size_t row, const Activity& activity) { add(row, activity.config, 1, gpu_ns(activity)); }

void CounterJoin::add(std::size_t row, std::uint32_t config, std::uint64_t launches, std::int64_t gpu_ns) {
  if (config == kNone || measured_.empty() || !measured_.contains(config)) return;
  Share& share = shares_[std::uint64_t{row} << 32U | config];
  share.launches += launches;
  add_ns(share.gpu_ns, gpu_ns);
}

std::vector<Counters> CounterJoin::finish(std::size_t rows) const {
  // In the order of rows and configurations, so that sums of doubles come out the same each time.
  const std::map<std::uint64_t, Share> sorted(shares_.begin(), shares_.end());
  std::vector<Counters> all(rows);
  for (auto share = sorted.begin(); share != sorted.end();) {
    const std::uint64_t row = share->first >> 32U;
    RowCounters made(all[row]);
    for (; share != sorted.end() && share->first >> 32U == row; ++share) {
      made.add(measured_.at(static_cast<std::uint32_t>(share->first)), share->second.launches, share->second.gpu_ns);
    }
    made.finish();
  }
  return all;
}

Counters counters_of_launch(const Timeline& timeline, std::uint32_t config) {
  Counters counters;
  RowCounters made(counters);
  made.add(counters_of_config(timeline, config), 1, 0);
  made.finish();
  return counters;
}

}  // namespace dlkprof::model
