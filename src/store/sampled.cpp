#include "store/sampled.h"

#include <cmath>
#include <vector>

#include "store/names.h"
#include "store/schema.h"

namespace dlkprof::store {

using model::Timeline;

void insert_sampled(const Connection& connection, const Timeline& timeline, const std::map<std::string, std::uint32_t>& metrics) {
  Statement rows = insert_into(connection, "sampled");
  for (const auto& [config, figures] : std::map(timeline.sampled.begin(), timeline.sampled.end())) {
    for (const auto& [metric, figure] : figures) {
      rows.run(config, metrics.at(metric), figure.samples, figure.launches, figure.mean, figure.deviation, figure.interval);
    }
  }
  Statement bins = insert_into(connection, "sample_bin");
  std::uint32_t id = 0;
  for (const model::SampleBin& bin : timeline.bins) {
    const std::uint32_t metric = metrics.at(timeline.sampled_metrics[bin.metric]);
    bins.run(id++, bin.device, metric, bin.start_ns, bin.end_ns, bin.samples, bin.value);
  }
}

void read_sampled(const OpenDatabase& database, TextBudget& budget, Timeline& timeline) {
  std::vector<std::string> metrics;
  for (Rows row(database, budget, "metric"); row.next();) {
    row.id();
    metrics.push_back(row.text());
  }
  for (Rows row(database, budget, "sampled"); row.next();) {
    const std::uint32_t config = row.index(timeline.configs.size());
    model::SampledFigure& figure = timeline.sampled[config][metrics[row.index(metrics.size())]];
    figure.samples = row.number<std::uint64_t>();
    figure.launches = row.number<std::uint64_t>();
    figure.mean = row.real_or_nan();
    figure.deviation = row.real_or_nan();
    const double interval = row.real_or_nan();
    if (std::isfinite(interval)) figure.interval = interval;
    if (!std::isfinite(figure.mean) || !std::isfinite(figure.deviation)) row.fail("no figure");
  }
  timeline.sampled_metrics = metrics;
  for (Rows row(database, budget, "sample_bin"); row.next();) {
    row.id();
    model::SampleBin bin;
    bin.device = row.index(timeline.devices.size());
    bin.metric = row.index(metrics.size());
    bin.start_ns = row.time();
    bin.end_ns = row.time(bin.start_ns);
    bin.samples = row.number<std::uint64_t>();
    bin.value = row.real_or_nan();
    if (!std::isfinite(bin.value)) row.fail("no figure");
    timeline.bins.push_back(bin);
  }
}

}  // namespace dlkprof::store
