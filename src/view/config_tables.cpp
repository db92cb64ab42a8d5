// What the page shows of launch configurations beyond views: computed figures, rooflines and occupancy curves.

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "advise/config_use.h"
#include "advise/occupancy_advice.h"
#include "advise/roofline.h"
#include "model/aggregate/computed.h"
#include "model/aggregate/config_counters.h"
#include "model/aggregate/provenance.h"
#include "model/aggregate/reliable.h"
#include "model/samples/student_t.h"
#include "view/page_tables.h"

namespace dlkprof::view {
namespace {

using store::Connection;
using store::Statement;

std::optional<double> rate_of(const std::optional<advise::Peak>& peak) { return peak ? std::optional(peak->rate) : std::nullopt; }

std::optional<double> intensity(double operations, const std::optional<double>& bytes) {
  return bytes && *bytes > 0 ? std::optional(operations / *bytes) : std::nullopt;
}

void add_rooflines(Connection& connection, const std::vector<advise::ConfigUse>& uses) {
  connection.run(
      "CREATE TABLE page_roofline (config INTEGER, position INTEGER, precision TEXT, operations REAL, rate REAL, duration_ns "
      "REAL, "
      "dram_intensity REAL, l2_intensity REAL, l1_intensity REAL, compute_peak REAL, dram_peak REAL, l2_peak REAL, l1_peak REAL, "
      "attainable REAL, compute_source TEXT, dram_source TEXT, PRIMARY KEY (config, position)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT INTO page_roofline VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const advise::ConfigUse& use : uses) {
    const std::optional<advise::Roofline> roofline = advise::roofline_of(use.values);
    if (!roofline) continue;
    std::int64_t position = 0;
    for (const advise::RooflinePoint& point : roofline->points) {
      insert.run(use.config, position++, point.precision, point.operations, point.rate, roofline->duration_ns, point.intensity,
                 intensity(point.operations, roofline->l2_bytes), intensity(point.operations, roofline->l1_bytes),
                 rate_of(point.compute), rate_of(roofline->dram), rate_of(roofline->l2), rate_of(roofline->l1),
                 advise::attainable(*roofline, point), point.compute ? point.compute->source : "",
                 roofline->dram ? roofline->dram->source : "");
    }
  }
}

void add_curves(Connection& connection, const model::Timeline& timeline, const std::vector<advise::ConfigUse>& uses) {
  using advise::CurveOf;
  constexpr std::array kCurves{std::pair{CurveOf::block_size, "threads per block"},
                               std::pair{CurveOf::registers, "registers per thread"},
                               std::pair{CurveOf::shared_memory, "shared bytes per block"}};
  connection.run(
      "CREATE TABLE page_curve (config INTEGER, what TEXT, x INTEGER, pct REAL, PRIMARY KEY (config, what, x)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_curve VALUES (?, ?, ?, ?)");
  for (const advise::ConfigUse& use : uses) {
    for (const auto& [what, name] : kCurves) {
      for (const advise::CurvePoint& point : advise::occupancy_curve(timeline, use, what))
        insert.run(use.config, name, point.x, point.percent);
    }
  }
}

void add_computed(Connection& connection, const model::Timeline& timeline, const std::vector<advise::ConfigUse>& uses) {
  connection.run(
      "CREATE TABLE page_computed (config INTEGER, name TEXT, value REAL, words TEXT, PRIMARY KEY (config, name)) WITHOUT ROWID");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_computed VALUES (?, ?, ?, ?)");
  for (const advise::ConfigUse& use : uses) {
    for (const auto& [name, value] : model::compute_figures(timeline, timeline.configs[use.config])) {
      const auto* number = std::get_if<double>(&value);
      const auto* words = std::get_if<std::string>(&value);
      insert.run(use.config, name, number != nullptr ? std::optional(*number) : std::nullopt, words != nullptr ? *words : "");
    }
  }
}

// Half of the 95 % confidence interval of a mean over launches; none of fewer than two.
std::optional<double> interval_of(const std::string& metric, const std::vector<double>& values) {
  std::vector<double> good;
  std::copy_if(values.begin(), values.end(), std::back_inserter(good),
               [&metric](double value) { return std::isfinite(value) && !model::is_unreliable(metric, value); });
  if (good.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(good.size());
  const double mean = std::accumulate(good.begin(), good.end(), 0.0) / n;
  double squares = 0;
  for (const double value : good) squares += (value - mean) * (value - mean);
  return model::student_t(good.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

std::optional<double> interval_of(const model::Timeline& timeline, const model::ConfigCounters& counters, std::uint32_t config,
                                  const std::string& metric) {
  if (counters.sampled != nullptr) {
    if (const auto found = counters.sampled->find(metric); found != counters.sampled->end()) return found->second.interval;
  }
  const auto& measured = timeline.measured.at(config);
  const auto found = measured.find(metric);
  return found == measured.end() ? std::nullopt : interval_of(metric, found->second);
}

// What counters of ops are made of (model/aggregate/aggregate.h: Counters): means of configurations, and how sure each is.
void add_counters(Connection& connection, const model::Timeline& timeline) {
  connection.run("CREATE TABLE page_metric (id INTEGER PRIMARY KEY, name TEXT, is_count INTEGER)");
  connection.run(
      "CREATE TABLE page_measured (config INTEGER PRIMARY KEY, samples INTEGER, collected_by TEXT, cache_control TEXT)");
  connection.run(
      "CREATE TABLE page_counter (metric INTEGER, config INTEGER, mean REAL, interval REAL, unreliable INTEGER, "
      "PRIMARY KEY (metric, config)) WITHOUT ROWID");
  Statement insert_metric = connection.prepare("INSERT INTO page_metric VALUES (?, ?, ?)");
  Statement insert_config = connection.prepare("INSERT INTO page_measured VALUES (?, ?, ?, ?)");
  Statement insert = connection.prepare("INSERT OR IGNORE INTO page_counter VALUES (?, ?, ?, ?, ?)");
  std::map<std::string, std::int64_t> metrics;
  for (const auto& [config, values] : timeline.measured) {
    const model::ConfigCounters counters = model::counters_of_config(timeline, config);
    insert_config.run(config, counters.samples, model::replay_modes_text(counters.replay_modes),
                      model::cache_controls_text(counters.cache_controls));
    for (const model::ConfigCounters::Figure& figure : counters.figures) {
      const std::string& metric = figure.metric.text();
      const auto [known, is_new] = metrics.try_emplace(metric, static_cast<std::int64_t>(metrics.size()));
      if (is_new) insert_metric.run(known->second, metric, std::int64_t{metric.ends_with(".sum")});
      const bool unreliable = std::any_of(counters.unreliable.begin(), counters.unreliable.end(),
                                          [&metric](const std::string* one) { return *one == metric; });
      insert.run(known->second, config, figure.mean, interval_of(timeline, counters, config, metric), std::int64_t{unreliable});
    }
  }
}

}  // namespace

void add_config_tables(Connection& connection, const model::Profile& profile) {
  const std::vector<advise::ConfigUse> uses = advise::config_uses(profile);
  add_rooflines(connection, uses);
  add_curves(connection, profile.timeline, uses);
  add_computed(connection, profile.timeline, uses);
  add_counters(connection, profile.timeline);
}

}  // namespace dlkprof::view
