#include "store/measured.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "model/aggregate/provenance.h"
#include "store/names.h"
#include "store/sampled.h"
#include "store/schema.h"

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
  Statement rows = insert_into(connection, "metric");
  for (auto& [metric, number] : ids) {
    number = id++;
    rows.run(number, metric);
  }
  return ids;
}

void insert_metric_sets(const Connection& connection, const Timeline& timeline) {
  std::uint32_t id = 0;
  Statement rows = insert_into(connection, "metric_set");
  for (const auto& [process, record] : timeline.metric_sets) {
    rows.run(id++, process, record.id, record.device, record.passes, fmt::format("{}", fmt::join(record.metrics, ",")),
             fmt::format("{}", fmt::join(record.unavailable, ",")));
  }
}

// Rows come in the order of their key, which is not that of an unordered map.
template <typename Map>
std::set<std::uint32_t> sorted_keys(const Map& map) {
  std::set<std::uint32_t> keys;
  for (const auto& [key, value] : map) keys.insert(key);
  return keys;
}

void insert_launches(const Connection& connection, const Timeline& timeline) {
  Statement rows = insert_into(connection, "measured_launch");
  for (const std::uint32_t config : sorted_keys(timeline.measured_launches)) {
    std::uint32_t position = 0;
    for (const model::MeasuredLaunch& launch : timeline.measured_launches.at(config)) {
      rows.run(config, position, launch.launch_index, launch.occurrence, launch.metric_set, launch.passes, launch.replay_mode,
               launch.cache_control, launch.start_unix_ns, launch.cost_ns, launch.context, launch.stream, launch.thread,
               launch.evaluated_here, model::clock_hz(timeline, config, position));
      ++position;
    }
  }
}

void insert_values(const Connection& connection, const Timeline& timeline, const MetricIds& ids) {
  Statement rows = insert_into(connection, "measured");
  for (const std::uint32_t config : sorted_keys(timeline.measured)) {
    for (const auto& [metric, values] : timeline.measured.at(config)) {
      std::uint32_t position = 0;
      for (const double value : values) rows.run(config, ids.at(metric), position++, value);
    }
  }
}

void insert_figures(const Connection& connection, const Timeline& timeline, const MetricIds& ids) {
  Statement rows = insert_into(connection, "measured_figure");
  const model::MeasuredFigure* before = nullptr;
  std::uint32_t part = 0;
  const std::vector<model::MeasuredFigure> figures = model::measured_figures(timeline);
  for (const model::MeasuredFigure& figure : figures) {
    part = before != nullptr && before->config == figure.config && before->metric == figure.metric ? part + 1 : 0;
    before = &figure;
    const model::Spread& values = figure.values;
    const auto& how = figure.conditions;
    rows.run(figure.config, ids.at(*figure.metric), part, values.n(), values.mean(), values.least(), values.most(),
             values.deviation(), how ? model::replay_mode_text(how->replay_mode) : "",
             how ? model::cache_control_text(how->cache_control) : "", how ? std::optional(how->passes) : std::nullopt,
             how ? std::optional(how->metric_set) : std::nullopt, figure.clock_hz.mean());
  }
}

void insert_counts(const Connection& connection, const Timeline& timeline) {
  std::uint32_t id = 0;
  Statement rows = insert_into(connection, "launch_count");
  std::vector<model::Wanted> wanted;
  for (const model::Process& process : timeline.processes) wanted.push_back(model::wanted_of(process.record));
  for (const model::LaunchCounts& counts : timeline.counts) {
    rows.run(id++, counts.process, or_null(counts.config), or_null(counts.kernel), counts.device, counts.launches, counts.matched,
             counts.measured, counts.near_missed, counts.skipped, counts.timed, counts.timed_gpu_ns, counts.reason,
             name_of(model::incomplete(counts, wanted.at(counts.process))));
  }
}

// Reads table after table.
class MeasuredReader {
 public:
  MeasuredReader(const OpenDatabase& database, TextBudget& budget, Timeline& timeline)
      : database_(database), budget_(budget), timeline_(timeline) {}

  void read() {
    metric_sets();
    launches();
    values();
    counts();
  }

 private:
  [[nodiscard]] Rows rows(std::string_view table) { return {database_, budget_, table}; }
  void metric_sets();
  void launches();
  void values();
  void counts();

  const OpenDatabase& database_;
  TextBudget& budget_;
  Timeline& timeline_;
};

void MeasuredReader::metric_sets() {
  for (Rows row = rows("metric_set"); row.next();) {
    row.id();
    model::MetricSet set{row.index(timeline_.processes.size()), {}};
    set.record.id = row.number<std::uint32_t>();
    set.record.device = row.number<std::uint32_t>();
    set.record.passes = row.number<std::uint32_t>();
    for (std::vector<std::string>* names : {&set.record.metrics, &set.record.unavailable}) {
      if (const std::string joined = row.text(); !joined.empty()) *names = split(joined, ',');
    }
    timeline_.metric_sets.push_back(std::move(set));
  }
}

void MeasuredReader::launches() {
  for (Rows row = rows("measured_launch"); row.next();) {
    std::vector<model::MeasuredLaunch>& launches = timeline_.measured_launches[row.index(timeline_.configs.size())];
    row.expect(launches.size());
    model::MeasuredLaunch launch;
    launch.launch_index = row.number<std::uint64_t>();
    launch.occurrence = row.number<std::uint32_t>();
    launch.metric_set = row.index(timeline_.metric_sets.size());
    launch.passes = row.number<std::uint32_t>();
    launch.replay_mode = row.enumeration(model::kLastReplayMode);
    launch.cache_control = row.enumeration(model::kLastCacheControl);
    launch.start_unix_ns = row.number<std::int64_t>();
    launch.cost_ns = row.number<std::uint64_t>();
    for (std::uint32_t* number : {&launch.context, &launch.stream, &launch.thread}) *number = row.number<std::uint32_t>();
    launch.evaluated_here = row.flag();
    launches.push_back(launch);
  }
}

void MeasuredReader::values() {
  std::vector<std::string> metrics;
  for (Rows row = rows("metric"); row.next();) {
    row.id();
    metrics.push_back(row.text());
  }
  for (Rows row = rows("measured"); row.next();) {
    const std::uint32_t config = row.index(timeline_.configs.size());
    std::vector<double>& values = timeline_.measured[config][metrics[row.index(metrics.size())]];
    row.expect(values.size());
    values.push_back(row.real_or_nan());
  }
}

void MeasuredReader::counts() {
  for (Rows row = rows("launch_count"); row.next();) {
    row.id();
    model::LaunchCounts counts;
    counts.process = row.index(timeline_.processes.size());
    counts.config = row.index_or_none(timeline_.configs.size());
    counts.kernel = row.index_or_none(timeline_.kernels.size());
    counts.device = row.number<std::uint32_t>();
    for (std::uint64_t* number : {&counts.launches, &counts.matched, &counts.measured, &counts.near_missed, &counts.skipped,
                                  &counts.timed, &counts.timed_gpu_ns})
      *number = row.number<std::uint64_t>();
    counts.reason = row.enumeration(model::kLastSkipReason);
    timeline_.counts.push_back(counts);
  }
}

}  // namespace

void insert_measured(const Connection& connection, const Timeline& timeline) {
  const MetricIds ids = insert_metrics(connection, timeline);
  insert_metric_sets(connection, timeline);
  insert_launches(connection, timeline);
  insert_values(connection, timeline, ids);
  insert_figures(connection, timeline, ids);
  insert_counts(connection, timeline);
  insert_sampled(connection, timeline, ids);
}

void read_measured(const OpenDatabase& database, TextBudget& budget, Timeline& timeline) {
  MeasuredReader(database, budget, timeline).read();
  read_sampled(database, budget, timeline);
}

}  // namespace dlkprof::store
