#include "store/measured.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/insert.h"
#include "store/measured_rows.h"
#include "store/read_rows.h"

namespace dlkprof::store {
namespace {

using model::Timeline;

using MetricIds = std::map<std::string, std::uint32_t>;

MetricIds insert_metrics(const Connection& connection, const Timeline& timeline) {
  MetricIds ids;
  for (const auto& [config, metrics] : timeline.measured) {
    for (const auto& [metric, values] : metrics) ids.emplace(metric, 0);
  }
  for (const std::string& metric : timeline.sampled_metrics) ids.emplace(metric, 0);
  std::uint32_t id = 0;
  Insert<Metric> rows(connection);
  for (auto& [metric, number] : ids) {
    number = id++;
    rows.add({metric});
  }
  return ids;
}

// Rows come in the order of their key, which is not that of an unordered map.
template <typename Map>
auto sorted(const Map& map) {
  std::map<std::uint32_t, const typename Map::mapped_type*> all;
  for (const auto& [key, value] : map) all.emplace(key, &value);
  return all;
}

void insert_launches(const Connection& connection, const Timeline& timeline) {
  Insert<MeasuredLaunchRow> rows(connection);
  for (const auto& [config, launches] : sorted(timeline.measured_launches)) {
    std::uint64_t position = 0;
    for (const model::MeasuredLaunch& launch : *launches) {
      rows.add({config, position, launch, model::clock_hz(timeline, config, position)});
      ++position;
    }
  }
}

void insert_values(const Connection& connection, const Timeline& timeline, const MetricIds& ids) {
  Insert<MeasuredRow> rows(connection);
  for (const auto& [config, metrics] : sorted(timeline.measured)) {
    for (const auto& [metric, values] : *metrics) {
      const std::uint32_t id = ids.at(metric);
      std::uint64_t position = 0;
      for (const double value : values) rows.add({config, id, position++, value});
    }
  }
}

void insert_figures(const Connection& connection, const Timeline& timeline, const MetricIds& ids) {
  Insert<MeasuredFigureRow> rows(connection);
  const model::MeasuredFigure* before = nullptr;
  std::uint32_t part = 0;
  const std::vector<model::MeasuredFigure> figures = model::measured_figures(timeline);
  for (const model::MeasuredFigure& figure : figures) {
    part = before != nullptr && before->config == figure.config && before->metric == figure.metric ? part + 1 : 0;
    before = &figure;
    rows.add({figure.config, ids.at(*figure.metric), part, figure});
  }
}

void insert_counts(const Connection& connection, const Timeline& timeline) {
  std::vector<model::Wanted> wanted;
  for (const model::Process& process : timeline.processes) wanted.push_back(model::wanted_of(process.record));
  Insert<LaunchCountRow> rows(connection);
  for (const model::LaunchCounts& counts : timeline.counts)
    rows.add({counts, model::incomplete(counts, wanted.at(counts.process))});
}

void insert_sampled(const Connection& connection, const Timeline& timeline, const MetricIds& ids) {
  Insert<SampledRow> rows(connection);
  for (const auto& [config, figures] : sorted(timeline.sampled)) {
    for (const auto& [metric, figure] : *figures) rows.add({config, ids.at(metric), figure});
  }
  Insert<model::SampleBin> bins(connection);
  for (model::SampleBin bin : timeline.bins) {
    bin.metric = ids.at(timeline.sampled_metrics[bin.metric]);
    bins.add(bin);
  }
}

// The next of `all`, which stands at its position.
template <typename Value>
void append(const Rows& rows, std::vector<Value>& all, std::uint64_t position, const Value& value) {
  rows.expect_position(position, all.size());
  all.push_back(value);
}

void read_sampled(Reading& reading, Timeline& timeline, std::vector<std::string> metrics) {
  read_rows<SampledRow>(reading, [&](const Rows& rows, const SampledRow& row) {
    const model::SampledFigure& figure = row.figure;
    for (const double value : {figure.mean, figure.deviation, figure.interval.value_or(0)}) {
      if (!std::isfinite(value)) rows.fail("no figure");
    }
    timeline.sampled[row.config][metrics[row.metric]] = figure;
  });
  read_rows<model::SampleBin>(reading, [&](const Rows& rows, const model::SampleBin& bin) {
    if (!std::isfinite(bin.value)) rows.fail("no figure");
    timeline.bins.push_back(bin);
  });
  timeline.sampled_metrics = std::move(metrics);
}

}  // namespace

void insert_measured(const Connection& connection, const Timeline& timeline) {
  const MetricIds ids = insert_metrics(connection, timeline);
  insert_all(connection, timeline.metric_sets);
  insert_launches(connection, timeline);
  insert_values(connection, timeline, ids);
  insert_figures(connection, timeline, ids);
  insert_counts(connection, timeline);
  insert_sampled(connection, timeline, ids);
}

void read_measured(Reading& reading, Timeline& timeline) {
  std::vector<std::string> metrics = read_texts<Metric>(reading);
  read_all(reading, timeline.metric_sets);
  read_rows<MeasuredLaunchRow>(reading, [&](const Rows& rows, const MeasuredLaunchRow& row) {
    append(rows, timeline.measured_launches[row.config], row.position, row.launch);
  });
  read_rows<MeasuredRow>(reading, [&](const Rows& rows, const MeasuredRow& row) {
    append(rows, timeline.measured[row.config][metrics[row.metric]], row.position, row.value);
  });
  read_rows<LaunchCountRow>(reading, [&](const Rows&, const LaunchCountRow& row) { timeline.counts.push_back(row.counts); });
  read_sampled(reading, timeline, std::move(metrics));
}

}  // namespace dlkprof::store
