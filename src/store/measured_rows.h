// What was measured, and how: the columns of its tables (cells.h), with the structs of their rows.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "model/aggregate/provenance.h"
#include "model/timeline/timeline.h"
#include "store/cells.h"
#include "store/timeline_rows.h"

namespace dlkprof::store {

void columns(const auto& visit, Of<model::MetricSet> auto& row) {
  visit(Head{"metric_set", "The metrics that launches were measured with."}, row_id("From 0."),
        reference("process", row.process, "process"), number("number", row.record.id, "", "The capture's number of it."),
        number("device", row.record.device, "", kOrdinal), number("passes", row.record.passes, "", "That they need."),
        text("metrics", row.record.metrics, "As NVPerf has them, with commas between."),
        text("unavailable", row.record.unavailable, "Asked for, but not offered by this chip or driver, with commas between."));
}

struct MeasuredLaunchRow {
  std::uint32_t config = 0;
  std::uint64_t position = 0;
  model::MeasuredLaunch launch;
  std::optional<double> clock_hz;
};
void columns(const auto& visit, Of<MeasuredLaunchRow> auto& row) {
  auto& launch = row.launch;
  visit(Head{"measured_launch", "A launch that was measured, and how.", 2},
        reference("config", row.config, "config", "Of the launch."),
        number("position", row.position, "", "Among the measured ones of its configuration, from 0."),
        number("launch_index", launch.launch_index, "", "Among all kernel launches of its process, from 0."),
        number("occurrence", launch.occurrence, "", "Among all launches of its configuration, from 0."),
        reference("metric_set", launch.metric_set, "metric_set", "That it was measured with."),
        number("passes", launch.passes, "", "It was measured in."),
        up_to("replay_mode", launch.replay_mode, model::kLastReplayMode, "0 not known, 1 kernel replay, 2 iteration replay."),
        up_to("cache_control", launch.cache_control, model::kLastCacheControl,
              "0: caches as they were left, 1: flushed before each pass."),
        number("start_unix_ns", launch.start_unix_ns, "ns since 1970"),
        number("cost_ns", launch.cost_ns, "ns", "Host time that measuring it took."),
        number("context", launch.context, "", "As CUPTI numbers them."),
        number("stream", launch.stream, "", "As CUPTI numbers them."), number("tid", launch.thread, "", "As gettid(2) gives it."),
        flag("evaluated_here", launch.evaluated_here, "1: its counters were kept, and evaluated when the capture was read."),
        real("clock_hz", derived(row.clock_hz), "Hz", "Of the multiprocessors while it was measured; NULL: not measured."));
}

struct MeasuredRow {
  std::uint32_t config = 0, metric = 0;
  std::uint64_t position = 0;
  double value = 0;
};
void columns(const auto& visit, Of<MeasuredRow> auto& row) {
  visit(Head{"measured", "Hardware counters: a metric of one measured launch.", 3},
        reference("config", row.config, "config", "Of the launch."), reference("metric", row.metric, "metric"),
        number("position", row.position, "", "Of the launch, as in measured_launch."),
        nullable(real("value", row.value, "of the metric", "NULL: none came."), std::numeric_limits<double>::quiet_NaN()));
}

// Not read back: it follows from the values.
struct MeasuredFigureRow {
  std::uint32_t config = 0, metric = 0, part = 0;
  model::MeasuredFigure figure;
};
void columns(const auto& visit, const MeasuredFigureRow& row) {
  const model::Spread& values = row.figure.values;
  const auto& how = row.figure.conditions;
  visit(Head{"measured_figure",
             "A metric of a launch configuration, over the launches that were measured alike: a row per replay mode, caches, "
             "metric set and passes. Only what has a value.",
             3},
        reference("config", row.config, "config"), reference("metric", row.metric, "metric"),
        number("part", row.part, "", "Of those measured alike, from 0."), number("n", values.n(), "launches", "With a value."),
        real("mean", values.mean(), "of the metric", "NULL, as the next three: beyond what a number can hold."),
        real("min", values.least(), "of the metric"), real("max", values.most(), "of the metric"),
        real("stddev", values.deviation(), "of the metric", "Of the sample (n - 1); NULL where n is 1."),
        text("replay_mode", how ? model::replay_mode_text(how->replay_mode) : "",
             "kernel replay or iteration replay; empty: not known."),
        text("cache_control", how ? model::cache_control_text(how->cache_control) : "",
             "none: as they were left, all: flushed before each pass; empty: not known."),
        number("passes", how ? std::optional(how->passes) : std::nullopt, "", "A launch; NULL: not known."),
        reference("metric_set", how ? std::optional(how->metric_set) : std::nullopt, "metric_set", "NULL: not known."),
        real("clock_hz", row.figure.clock_hz.mean(), "Hz", "Mean clock of the multiprocessors meanwhile; NULL: not measured."));
}

struct LaunchCountRow {
  model::LaunchCounts counts;
  model::Incomplete incomplete = model::Incomplete::no;
};
void columns(const auto& visit, Of<LaunchCountRow> auto& row) {
  auto& counts = row.counts;
  visit(Head{"launch_count", "What became of the launches of one configuration."}, row_id("From 0."),
        reference("process", counts.process, "process"),
        nullable(reference("config", counts.config, "config",
                           "NULL: all of a function that no filter takes, which are counted together.")),
        nullable(reference("kernel", counts.kernel, "kernel", "NULL: not described.")),
        number("device", counts.device, "", kOrdinal), number("launches", counts.launches, "launches", "Seen."),
        number("matched", counts.matched, "launches", "That the selector takes."),
        number("measured", counts.measured, "launches"),
        number("near_missed", counts.near_missed, "launches", "That it would take in another form of their name."),
        number("skipped", counts.skipped, "launches", "Selected, but not to be measured."),
        number("timed", counts.timed, "launches", "That activity records timed; measured ones are not among them."),
        number("timed_gpu_ns", counts.timed_gpu_ns, "ns", "GPU time of these."),
        up_to("skip_reason", counts.reason, model::kLastSkipReason,
              "0 none, 1 cooperative, 2 collective, 3 captured into a graph, 4 failed, 5 memory, 6 refused, 7 values: see "
              "incomplete."),
        text("incomplete", derived(model::words_of(row.incomplete).name),
             "Why it was not measured as often as asked, as in view coverage; empty: it was."));
}

struct SampledRow {
  std::uint32_t config = 0, metric = 0;
  model::SampledFigure figure;
};
void columns(const auto& visit, Of<SampledRow> auto& row) {
  visit(Head{"sampled", "Hardware counters: a metric of a launch configuration from samples that lay within its launches.", 2},
        reference("config", row.config, "config"), reference("metric", row.metric, "metric"),
        number("samples", row.figure.samples, "samples"),
        number("launches", row.figure.launches, "launches", "That have samples."), real("mean", row.figure.mean, "of the metric"),
        real("deviation", row.figure.deviation, "of the metric", "Standard deviation of the samples."),
        real("interval", row.figure.interval, "of the metric",
             "Half of the 95 % confidence interval of the mean. NULL: only one launch."));
}

void columns(const auto& visit, Of<model::SampleBin> auto& row) {
  visit(Head{"sample_bin", "The samples of a stretch of time on a GPU, whatever ran then."},
        row_id("From 0, by device, metric and start."), reference("device", row.device, "device"),
        reference("metric", row.metric, "metric"), any_time("start_ns", row.start_ns),
        time_from(row.start_ns, "end_ns", row.end_ns), number("samples", row.samples, "samples"),
        real("value", row.value, "of the metric", "Their mean."));
}

}  // namespace dlkprof::store
