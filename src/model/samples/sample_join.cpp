#include "model/samples/sample_join.h"

#include <algorithm>
#include <cmath>

#include "model/fold/time_arithmetic.h"
#include "model/samples/student_t.h"

namespace dlkprof::model {
namespace {

bool finite(const SampledFigure& figure) {
  return std::isfinite(figure.mean) && std::isfinite(figure.deviation) && (!figure.interval || std::isfinite(*figure.interval));
}

}  // namespace

void ClusteredMean::add(std::uint32_t launch, double value, double weight) {
  if (launch != launch_) {
    close_launch();
    launch_ = launch;
  }
  ++samples_;
  sum_ += weight * value;
  weight_ += weight;
  squares_ += weight * value * value;
}

void ClusteredMean::close_launch() {
  if (weight_ > 0) {
    ++launches_;
    all_ += sum_;
    all_weight_ += weight_;
    sum_sum_ += sum_ * sum_;
    sum_weight_ += sum_ * weight_;
    weight_weight_ += weight_ * weight_;
  }
  sum_ = weight_ = 0;
}

std::optional<SampledFigure> ClusteredMean::finish(double scale, SampleEdges::Share edges) {
  close_launch();
  if (!(all_weight_ > 0)) return std::nullopt;
  const double mean = (all_ + edges.sum) / (all_weight_ + edges.weight);
  const double own = all_ / all_weight_;
  const double spread = std::max(0.0, squares_ / all_weight_ - own * own);
  SampledFigure figure{.samples = samples_, .launches = launches_, .mean = mean * scale, .deviation = std::sqrt(spread) * scale};
  if (launches_ > 1) {
    const auto n = static_cast<double>(launches_);
    const double residual = std::max(0.0, sum_sum_ - 2 * mean * sum_weight_ + mean * mean * weight_weight_);
    figure.interval = student_t(launches_ - 1) * std::sqrt(residual * n / (n - 1)) / all_weight_ * scale;
  }
  return finite(figure) ? std::optional(figure) : std::nullopt;
}

SampleJoin::SampleJoin(std::span<const Activity> activities, std::uint32_t device)
    : works_(activities), spans_(spans_alone(activities, device)), occupation_(occupation(activities, device)) {
  for (const Activity& activity : activities) {
    if (activity.device != device || activity.config == kNone || !is_timed(activity)) continue;
    auto& [sum, launches] = launch_ns_[activity.config];
    sum += static_cast<double>(gpu_ns(activity));
    ++launches;
  }
}

std::vector<ClusteredMean*> SampleJoin::means_of(std::uint32_t config, const std::vector<SampleColumn>& columns) {
  std::vector<ClusteredMean*> means;
  for (const SampleColumn& column : columns) means.push_back(&means_[config][column.metric()]);
  return means;
}

void SampleJoin::add(const std::vector<std::string>& metrics, const capture::SampleBatch& batch) {
  const std::vector<SampleColumn> columns = SampleColumn::of(metrics, batch);
  std::unordered_map<std::uint32_t, std::vector<ClusteredMean*>> known;
  for (std::size_t i = 0; i < batch.start_ns.size(); ++i) {
    const std::int64_t start = batch.start_ns[i], end = start + batch.length_ns[i];
    const std::size_t activities = occupation_.count(start, end);
    const KernelSpan* span = activities == 1 ? span_within(spans_, start, end) : nullptr;
    if (span == nullptr) {
      if (activities > 0) ++shared_;
      if (activities == 2) add_shared(columns, i, start, end);
      continue;
    }
    ++given_;
    const std::int64_t busy = std::min(end, span->end_ns) - std::max(start, span->start_ns);
    const std::uint32_t config = works_[span->activity].config;
    const auto [means, is_new] = known.try_emplace(config);
    if (is_new) means->second = means_of(config, columns);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      if (const auto weighed = columns[column].at(i, busy)) {
        means->second[column]->add(span->activity, weighed->value, weighed->weight);
      }
    }
  }
}

// Where one launch ended in the sample's interval, and then another began.
void SampleJoin::add_shared(const std::vector<SampleColumn>& columns, std::size_t sample, std::int64_t start_ns,
                            std::int64_t end_ns) {
  const KernelSpan* second = span_within(spans_, start_ns, end_ns);
  if (second == nullptr || second == spans_.data()) return;
  const KernelSpan* first = second - 1;
  const Activity& before = works_[first->activity];
  const Activity& after = works_[second->activity];
  if (first->end_ns <= start_ns || before.end_ns > after.start_ns) return;
  const std::int64_t first_ns = first->end_ns - std::max(start_ns, first->start_ns);
  const std::int64_t second_ns = std::min(end_ns, second->end_ns) - second->start_ns;
  for (const SampleColumn& column : columns) {
    if (const auto whole = column.at(sample, first_ns + second_ns))
      edges_.add(column, *whole, before.config, first_ns, after.config, second_ns);
  }
}

double SampleJoin::mean_launch_ns(std::uint32_t config) const {
  const auto& [sum, launches] = launch_ns_.at(config);
  return sum / static_cast<double>(launches);
}

std::unordered_map<std::uint32_t, std::map<std::string, SampledFigure>> SampleJoin::finish() {
  std::unordered_map<std::uint32_t, std::map<std::string, SampledFigure>> figures;
  auto edges = edges_.shares();
  for (auto& [config, metrics] : means_) {
    for (auto& [metric, mean] : metrics) {
      const double scale = grows_with_length(metric) ? mean_launch_ns(config) : 1;
      if (const auto figure = mean.finish(scale, edges[config][metric])) figures[config].emplace(metric, *figure);
    }
  }
  return figures;
}

}  // namespace dlkprof::model
