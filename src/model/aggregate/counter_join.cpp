#include "model/aggregate/counter_join.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "model/aggregate/provenance.h"
#include "model/fold/time_arithmetic.h"

namespace dlkprof::model {
namespace {

// NVPerf's "dram__bytes.sum" is a count of the launch, "dram__bytes.sum.per_second" is not.
bool is_count(const std::string& metric) { return metric.ends_with(".sum"); }

std::optional<double> mean_of(const std::vector<double>& values) {
  double sum = 0;
  std::size_t n = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
}

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

}  // namespace

CounterJoin::CounterJoin(const Timeline& timeline) {
  for (const auto& [config, metrics] : timeline.measured) {
    Measured measured;
    for (const auto& [metric, values] : metrics) {
      measured.samples = std::max<std::uint64_t>(measured.samples, values.size());
      if (const auto mean = mean_of(values)) measured.means.emplace_back(&metric, *mean);
    }
    if (const auto sampled = timeline.sampled.find(config); sampled != timeline.sampled.end()) {
      measured.sampled = &sampled->second;
      for (const auto& [metric, figure] : sampled->second) measured.samples = std::max(measured.samples, figure.launches);
    }
    if (const auto launches = timeline.measured_launches.find(config); launches != timeline.measured_launches.end()) {
      for (const MeasuredLaunch& launch : launches->second) {
        measured.replay_modes |= bit_of(launch.replay_mode);
        measured.cache_controls |= bit_of(launch.cache_control);
      }
    }
    measured_.emplace(config, std::move(measured));
  }
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
    Counters& counters = all[row];
    std::map<std::string, WeightedSum> means;
    std::map<std::string, SampledSum> sampled;
    for (; share != sorted.end() && share->first >> 32U == row; ++share) {
      const Measured& measured = measured_.at(static_cast<std::uint32_t>(share->first));
      const auto launches = static_cast<double>(share->second.launches);
      // A nanosecond each where none was timed: so they count among themselves, and for nothing beside those that were.
      const double weight = std::max(static_cast<double>(share->second.gpu_ns), launches);
      counters.samples += measured.samples;
      counters.replay_modes |= measured.replay_modes;
      counters.cache_controls |= measured.cache_controls;
      add_ns(counters.covered_ns, share->second.gpu_ns);
      for (const auto& [metric, mean] : measured.means) {
        if (is_count(*metric)) {
          counters.values[*metric] += mean * launches;
        } else {
          WeightedSum& sum = means[*metric];
          sum.sum += mean * weight;
          sum.weight += weight;
        }
        if (measured.sampled == nullptr) continue;
        const auto figure = measured.sampled->find(*metric);
        if (figure != measured.sampled->end()) sampled[*metric].add(figure->second, is_count(*metric) ? launches : weight);
      }
    }
    for (const auto& [metric, sum] : means) counters.values[metric] = sum.sum / sum.weight;
    for (const auto& [metric, sum] : sampled) {
      const auto mean = means.find(metric);
      counters.sampled[metric] = sum.finish(mean == means.end() ? 1 : mean->second.weight);
    }
  }
  return all;
}

}  // namespace dlkprof::model
